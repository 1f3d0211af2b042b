package source

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The variables that every child gets: what programs need to find themselves,
// their caches and the display, and nothing that usually holds a secret.
var (
	allowedUnix = []string{
		"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TMPDIR", "TZ",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}
	allowedWindows = []string{
		"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
		"PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
	}
)

// BaseEnv picks from an environment, in the form of os.Environ, what every
// child gets. Proxy variables are among it only where they hold no credentials.
// Shell functions are left out. The result is sorted.
func BaseEnv(environ []string) []string {
	return baseEnv(environ, runtime.GOOS == "windows")
}

func baseEnv(environ []string, windows bool) []string {
	var out []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && !strings.HasPrefix(value, "()") && allowedVar(name, value, windows) {
			out = append(out, kv)
		}
	}
	slices.Sort(out)
	return out
}

func allowedVar(name, value string, windows bool) bool {
	upper := strings.ToUpper(name)
	switch upper {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY":
		return !strings.Contains(value, "@")
	}
	if windows {
		return slices.Contains(allowedWindows, upper)
	}
	return slices.Contains(allowedUnix, name) || strings.HasPrefix(name, "LC_")
}

// childEnv is the whole environment of a child.
func childEnv(environ []string, declared map[string]string) []string {
	if environ == nil {
		environ = os.Environ()
	}
	env := BaseEnv(environ)
	for _, k := range slices.Sorted(maps.Keys(declared)) {
		env = append(env, k+"="+declared[k]) // of equal names os/exec takes the last
	}
	return env
}

// lookCommand finds a command as the child would: in the PATH of its own
// environment. Where that has none, exec.LookPath decides.
func lookCommand(command string, env []string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/") || runtime.GOOS == "windows" {
		return command, nil
	}
	path, ok := "", false
	for _, kv := range env {
		if v, found := strings.CutPrefix(kv, "PATH="); found {
			path, ok = v, true
		}
	}
	if !ok {
		return exec.LookPath(command)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a relative entry would run what lies in the working directory
		}
		file := filepath.Join(dir, command)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}
