package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// doctorEnv is an Env with a home of its own.
func doctorEnv(t *testing.T, args ...string) *cli.Env {
	t.Helper()
	home := t.TempDir()
	return &cli.Env{Args: append([]string{"doctor"}, args...), Home: home, Getenv: vars("HOME", home)}
}

func stamped(env *cli.Env) bool {
	_, err := os.Stat(filepath.Join(env.Home, ".aster", "doctor.stamp"))
	return err == nil
}

func TestDoctorRealBrowser(t *testing.T) {
	b := cdptest.New(t, &cdptest.Options{Native: true})
	b.NewPage(t, cdptest.Serve(t).URL+"/tools.html")
	env := doctorEnv(t, "--cdp-url", b.HTTP)
	code, stdout, stderr := run(t, env)
	if code != cli.ExitOK || !stamped(env) {
		t.Errorf("exit code %d, stamped %v\n%s%s", code, stamped(env), stdout, stderr)
	}
	for _, want := range []string{"ok    connection  made", "ok    version     ", "  tabs        2", "ok    WebMCP      ", "(--cdp-url)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("lacks %q:\n%s", want, stdout)
		}
	}

	env = doctorEnv(t, "--json")
	env.Getenv = vars("ASTER_WEBMCP_CDP_URL", "profile:"+b.ProfileDir)
	code, stdout, stderr = run(t, env)
	var report struct {
		OK    bool
		Steps []struct{ Name, Verdict, Text string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != cli.ExitOK || !report.OK || len(report.Steps) < 6 {
		t.Errorf("exit code %d, %v, %+v, %s%s", code, err, report, stdout, stderr)
	}
	if strings.Contains(stdout, "/devtools/browser/") {
		t.Errorf("the secret part of the address is shown:\n%s", stdout)
	}
}

func TestDoctorNoBrowser(t *testing.T) {
	e := cdptest.NewEndpoint(t, nil)
	e.Close()
	env := doctorEnv(t, "--cdp-url", e.HTTP)
	code, stdout, stderr := run(t, env)
	if code != cli.ExitNoBrowser || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	for _, want := range []string{"fail  browser", "chrome://inspect/#remote-debugging", "--cdp-url launch"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("lacks %q:\n%s", want, stdout)
		}
	}
}

func TestDoctorConsent(t *testing.T) {
	tests := []struct {
		name    string
		args    []string
		act     func(*cdptest.Endpoint)
		code    int
		stamped bool
		want    string
	}{
		{"refused", nil, (*cdptest.Endpoint).Refuse, cli.ExitRefused, false, "fail  connection"},
		{"no answer", []string{"--timeout", "300ms"}, func(*cdptest.Endpoint) {}, cli.ExitRefused, false, "not allowed within 300ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true, Hold: true})
			dir := t.TempDir()
			e.WritePortFile(t, dir)
			tt.act(e)
			env := doctorEnv(t, append(tt.args, "--cdp-url", "profile:"+dir)...)
			code, stdout, stderr := run(t, env)
			if code != tt.code || stamped(env) != tt.stamped || !strings.Contains(stdout, tt.want) {
				t.Errorf("exit code %d, want %d; stamped %v, want %v; want %q in\n%s%s", code, tt.code, stamped(env), tt.stamped, tt.want, stdout, stderr)
			}
			if n := e.Upgrades(); n > 1 {
				t.Errorf("the user was asked %d times", n)
			}
		})
	}
}

func TestDoctorUsage(t *testing.T) {
	for _, args := range [][]string{{"--cdp-url", "9222"}, {"--cdp-url", "http://192.0.2.1:9222"}, {"--headless"}, {"--timeout", "-1s"}, {"--timeout", "soon"}} {
		env := doctorEnv(t, args...)
		if code, stdout, _ := run(t, env); code != cli.ExitUsage || stdout != "" {
			t.Errorf("%v: exit code %d, stdout %q", args, code, stdout)
		}
	}
}

func TestDoctorReadOnlyHome(t *testing.T) {
	env := doctorEnv(t, "--cdp-url", cdptest.NewEndpoint(t, nil).HTTP)
	file := filepath.Join(env.Home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env.Getenv = vars("ASTER_HOME", filepath.Join(file, "aster")) // below a file nothing can be made
	code, stdout, _ := run(t, env)
	if code != cli.ExitOK || !strings.Contains(stdout, "warn  files") || !strings.Contains(stdout, "no page to look at") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}
