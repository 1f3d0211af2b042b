package content

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path"
	"strings"
)

// maxZipEntries is how many files an archive may name.
const maxZipEntries = 20_000

// sniffZip tells the documents that are ZIP archives apart by what is in them.
func sniffZip(body []byte) (Kind, string) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return KindBinary, "broken ZIP archive"
	}
	types, found := false, KindBinary
	for i, f := range z.File {
		if i == maxZipEntries {
			break
		}
		switch {
		case f.Name == "META-INF/container.xml":
			return KindEPUB, "EPUB book"
		case f.Name == "[Content_Types].xml":
			types = true
		case strings.HasPrefix(f.Name, "word/"):
			found = KindDOCX
		case strings.HasPrefix(f.Name, "ppt/"):
			found = KindPPTX
		case strings.HasPrefix(f.Name, "xl/"):
			found = KindXLSX
		}
	}
	if types && found != KindBinary {
		return found, string(found) + " document"
	}
	return KindBinary, "ZIP archive"
}

// archive is a ZIP file whose entries are read within a conversion's bounds.
type archive struct {
	c     *conversion
	files map[string]*zip.File // by name in lower case: writers differ
}

func (c *conversion) open(body []byte) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("ZIP archive: %w: %v", ErrMalformed, err)
	}
	if len(z.File) > maxZipEntries {
		return nil, fmt.Errorf("ZIP archive: %w: more than %d files", ErrTooLarge, maxZipEntries)
	}
	a := &archive{c: c, files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		name := strings.ToLower(path.Clean(strings.ReplaceAll(f.Name, "\\", "/")))
		if a.files[name] == nil {
			a.files[name] = f
		}
	}
	return a, nil
}

// read unpacks an entry; nil without error where there is none of that name.
func (a *archive) read(name string) ([]byte, error) {
	f := a.files[strings.ToLower(path.Clean(strings.TrimPrefix(name, "/")))]
	if f == nil {
		return nil, nil
	}
	if f.Flags&1 != 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrEncrypted)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", name, ErrMalformed, err)
	}
	defer r.Close()
	b, err := a.c.readAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(name, 80), err)
	}
	return b, nil
}
