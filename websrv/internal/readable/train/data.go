package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// labelled is a page with the text that belongs to it.
type labelled struct {
	set, id, kind, url string
	html               []byte
	truth              string
	with, without      []string
}

// loadWCXB reads a part of the WCXB set, "dev" or "train", in the order of the ids.
func loadWCXB(root, part string) ([]labelled, error) {
	dir := filepath.Join(root, "wcxb", part)
	files, err := filepath.Glob(filepath.Join(dir, "ground-truth", "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no pages in %s", dir)
	}
	slices.Sort(files)
	out := make([]labelled, 0, len(files))
	for _, f := range files {
		l, err := readWCXB(dir, f, part)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		out = append(out, l)
	}
	return out, nil
}

func readWCXB(dir, file, part string) (labelled, error) {
	var t struct {
		URL      string `json:"url"`
		Internal struct {
			PageType struct {
				Primary string `json:"primary"`
			} `json:"page_type"`
		} `json:"_internal"`
		Truth struct {
			Main    string   `json:"main_content"`
			With    []string `json:"with"`
			Without []string `json:"without"`
		} `json:"ground_truth"`
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return labelled{}, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return labelled{}, err
	}
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	page, err := readGzip(filepath.Join(dir, "html", id+".html.gz"))
	return labelled{set: "wcxb/" + part, id: id, kind: t.Internal.PageType.Primary, url: t.URL, html: page,
		truth: t.Truth.Main, with: t.Truth.With, without: t.Truth.Without}, err
}

// loadZyte reads the article set in the order of the ids.
func loadZyte(root string) ([]labelled, error) {
	b, err := os.ReadFile(filepath.Join(root, "zyte", "ground-truth.json"))
	if err != nil {
		return nil, err
	}
	var truth map[string]struct {
		Body string `json:"articleBody"`
		URL  string `json:"url"`
	}
	if err := json.Unmarshal(b, &truth); err != nil {
		return nil, err
	}
	var out []labelled
	for id, t := range truth {
		page, err := readGzip(filepath.Join(root, "zyte", "html", id+".html.gz"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, labelled{set: "zyte", id: id, kind: "article", url: t.URL, html: page, truth: t.Body})
	}
	slices.SortFunc(out, func(a, b labelled) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

const maxPageBytes = 32 << 20

func readGzip(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxPageBytes))
}
