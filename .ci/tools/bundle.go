// Command bundle makes the MCP bundles of a release (.mcpb: a zip archive of a program and
// its manifest) and the server.json that names them for the MCP registry.
//
//	go run .ci/tools/bundle.go VERSION DIST
//
// DIST is what goreleaser left: the archives aster_VERSION_OS_ARCH.tar.gz and .zip. The
// bundles and server.json are written beside them, the same bytes each time.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	template   = ".github/release/server.json.tmpl"
	releases   = "https://github.com/aster-mcp/aster/releases/download/"
	maxProgram = 256 << 20 // bytes
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bundle VERSION DIST")
		os.Exit(2)
	}
	if err := run(strings.TrimPrefix(os.Args[1], "v"), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

var archiveName = regexp.MustCompile(`^aster_(.+)_(linux|darwin|windows)_(amd64|arm64)\.(?:tar\.gz|zip)$`)

func run(version, dist string) error {
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var server map[string]any
	text, err := os.ReadFile(template)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &server); err != nil {
		return fmt.Errorf("%s: %w", template, err)
	}
	packages := []any{}
	for _, e := range entries { // sorted by name
		m := archiveName.FindStringSubmatch(e.Name())
		if m == nil || m[1] != version {
			continue
		}
		program, name, err := readProgram(filepath.Join(dist, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		bundle, err := pack(version, m[2], name, program)
		if err != nil {
			return err
		}
		file := fmt.Sprintf("aster_%s_%s_%s.mcpb", version, m[2], m[3])
		if err := os.WriteFile(filepath.Join(dist, file), bundle, 0o644); err != nil {
			return err
		}
		packages = append(packages, map[string]any{
			"registryType": "mcpb", "identifier": releases + "v" + version + "/" + file,
			"fileSha256": fmt.Sprintf("%x", sha256.Sum256(bundle)), "transport": map[string]string{"type": "stdio"},
		})
	}
	if len(packages) == 0 {
		return fmt.Errorf("no archive of version %s in %s", version, dist)
	}
	server["version"], server["packages"] = version, packages
	out, err := json.MarshalIndent(server, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, "server.json"), append(out, '\n'), 0o644)
}

// readProgram takes the program out of an archive.
func readProgram(path string) (program []byte, name string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return nil, "", err
		}
		i := slices.IndexFunc(z.File, func(f *zip.File) bool { return filepath.Base(f.Name) == "aster.exe" })
		if i < 0 {
			return nil, "", errors.New("no aster.exe in it")
		}
		r, err := z.File[i].Open()
		if err != nil {
			return nil, "", err
		}
		defer r.Close()
		program, err = io.ReadAll(io.LimitReader(r, maxProgram))
		return program, "aster.exe", err
	}
	g, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	for t := tar.NewReader(g); ; {
		h, err := t.Next()
		if err != nil {
			return nil, "", fmt.Errorf("no aster in it: %w", err)
		}
		if filepath.Base(h.Name) == "aster" && h.Typeflag == tar.TypeReg {
			program, err = io.ReadAll(io.LimitReader(t, maxProgram))
			return program, "aster", err
		}
	}
}

// pack makes a bundle.
func pack(version, goos, name string, program []byte) ([]byte, error) {
	platform := map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}[goos]
	manifest, err := json.MarshalIndent(map[string]any{
		"manifest_version": "0.3", "name": "aster", "version": version, "license": "Apache-2.0",
		"description": "The tools of your open web pages (WebMCP), for AI clients",
		"author":      map[string]string{"name": "The aster authors", "url": "https://github.com/aster-mcp/aster"},
		"server": map[string]any{"type": "binary", "entry_point": name,
			"mcp_config": map[string]any{"command": "${__dirname}/" + name, "args": []string{"mcp", "serve", "webmcp"}}},
		"compatibility": map[string]any{"platforms": []string{platform}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		mode os.FileMode
		text []byte
	}{{"manifest.json", 0o644, manifest}, {name, 0o755, program}} {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return b.Bytes(), err
}
