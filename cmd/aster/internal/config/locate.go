package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Names of files.
const (
	UserFile        = "aster.yaml" // in the user's directory
	userServersFile = "mcp.json"   // there
	projectServers  = ".mcp.json"  // in a project
	extraVariable   = "ASTER_MCP_EXTRA"
	repositoryMark  = ".git" // a directory, or the file of a worktree
	maxParents      = 64     // directories that are looked at on the way up
)

// projectFiles are the names of a project's file; the first that exists counts.
func projectFiles() []string { return []string{"aster.yaml", "aster.yml", ".aster.yaml"} }

// Options say where to look. The zero value finds nothing.
type Options struct {
	// UserDir is the directory of the user's files, "" if there is none. The command line
	// finds it: $ASTER_HOME, else aster below $XDG_CONFIG_HOME, else ~/.aster.
	UserDir string
	// Dir is where the search for the project's files begins; "" looks for none.
	Dir string
	// File, when set, is read in place of the user's and the project's files (--config).
	// It counts as the user's own.
	File string
	// Home is the user's home directory, for "~/" in cwd.
	Home string
	// Getenv reads ASTER_MCP_EXTRA; nil means that no variable is set.
	Getenv func(string) string
	// Consents is the store of what the user agreed to; nil means nothing.
	Consents *Consents
}

// Paths are the files that a load reads, whether they exist or not.
type Paths struct {
	User, UserServers       string // "" without a user's directory
	Project, ProjectServers string // "" if there is none; these exist
	ProjectDir              string // of Project, else of ProjectServers, else the root of the repository or the working directory
}

// Locate finds the files. It reads directories, not files.
func Locate(o *Options) (Paths, error) {
	var p Paths
	if o == nil {
		return p, nil
	}
	if o.UserDir != "" {
		dir, err := filepath.Abs(o.UserDir)
		if err != nil {
			return p, err
		}
		p.User, p.UserServers = filepath.Join(dir, UserFile), filepath.Join(dir, userServersFile)
	}
	if o.File != "" || o.Dir == "" {
		return p, nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return p, err
	}
	dirs := upward(dir)
	p.Project = firstFile(dirs, projectFiles(), p.User)
	p.ProjectServers = firstFile(dirs, []string{projectServers}, "")
	switch {
	case p.Project != "":
		p.ProjectDir = filepath.Dir(p.Project)
	case p.ProjectServers != "":
		p.ProjectDir = filepath.Dir(p.ProjectServers)
	default:
		p.ProjectDir = dirs[len(dirs)-1]
	}
	return p, nil
}

// upward lists the directories from dir to the root of its repository; outside of one it
// is dir alone, so that no stranger's parent directory counts.
func upward(dir string) []string {
	dirs := []string{dir}
	for d := dir; len(dirs) < maxParents; {
		if _, err := os.Lstat(filepath.Join(d, repositoryMark)); err == nil {
			return dirs
		}
		parent := filepath.Dir(d)
		if parent == d {
			break
		}
		d = parent
		dirs = append(dirs, d)
	}
	return dirs[:1]
}

// firstFile returns the first of the names, in the first of the directories that has one.
// A file that is also the user's own is none of a project's.
func firstFile(dirs, names []string, not string) string {
	own, ownErr := os.Stat(not)
	for _, dir := range dirs {
		for _, name := range names {
			path := filepath.Join(dir, name)
			fi, err := os.Stat(path)
			if err != nil || fi.IsDir() || ownErr == nil && os.SameFile(own, fi) {
				continue
			}
			return path
		}
	}
	return ""
}

// openFile opens a file that is there to be read to its end: to open a pipe, or to read a
// terminal, would wait for whoever writes. The null device is an empty file.
func openFile(path string) (*os.File, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	null, nullErr := os.Stat(os.DevNull)
	switch {
	case fi.Mode().IsRegular(), nullErr == nil && os.SameFile(fi, null):
		return os.Open(path)
	case fi.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a directory, not a file")}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a pipe or a device, not a file")}
}

// readSource reads a file within the bound. found is false when there is none.
func readSource(path string, scope Scope) (src *source, found bool, err error) {
	src = &source{place: Place{Scope: scope, File: path}}
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return src, false, nil
	}
	if err != nil {
		return src, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJSONBytes+1))
	if err != nil {
		return src, true, err
	}
	src.text = string(text)
	if !utf8.Valid(text) && len(text) <= maxJSONBytes {
		return src, true, badEncoding(src)
	}
	return src, true, nil
}

// badEncoding finds the first byte that is no UTF-8.
func badEncoding(src *source) error {
	line, column := 1, 1
	for i := 0; i < len(src.text); {
		r, n := utf8.DecodeRuneInString(src.text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return src.errorAt(line, column, 1, "save it as UTF-8", "a byte that is no UTF-8: 0x%02x", src.text[i])
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		i += n
	}
	return nil
}
