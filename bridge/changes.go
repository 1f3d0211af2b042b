package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

const maxNoteIDs = 20 // IDs that a note names of each kind

// Changes say how one catalogue differs from an earlier one, sorted by ID.
type Changes struct {
	Added, Removed []ToolID
	Changed        []ToolID // same ID, other title, description, schema or annotations
}

// Any reports whether there are changes.
func (c *Changes) Any() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) > 0 }

// Note is the changes in one line for a model, "" if there are none.
func (c *Changes) Note() string {
	if !c.Any() {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		word string
		ids  []ToolID
	}{{"added", c.Added}, {"removed", c.Removed}, {"changed (describe again)", c.Changed}} {
		if len(p.ids) > 0 {
			parts = append(parts, p.word+" "+noteIDs(p.ids))
		}
	}
	return "[aster_mcp: the session's tools changed: " + strings.Join(parts, "; ") + "]"
}

func noteIDs(ids []ToolID) string {
	var shown []string
	for _, id := range ids[:min(len(ids), maxNoteIDs)] {
		shown = append(shown, shownID(id))
	}
	list := strings.Join(shown, ", ")
	if more := len(ids) - len(shown); more > 0 {
		list += fmt.Sprintf(" and %d more (search)", more)
	}
	return list
}

// shownID is an ID as one clean line; it resolves to the tool.
func shownID(id ToolID) string { return oneLine(string(id), 2*MaxNameBytes) }

// Changes says what changed since the prompt section was made, or since
// NewInjector where there is none.
func (in *Injector) Changes() Changes {
	in.mu.Lock()
	from, to := in.told, in.catalog
	if in.section != nil {
		from = in.section.catalog
	}
	in.mu.Unlock()
	return Diff(from, to)
}

// TakeNote returns one line about what changed in the catalogue since the
// prompt section was made or the last note was taken, and "" where nothing
// did. It belongs at the end of the next tool result. Handle takes it by
// itself.
func (in *Injector) TakeNote() string {
	in.mu.Lock()
	from, to := in.told, in.catalog
	in.told = to
	in.mu.Unlock()
	if from == to {
		return ""
	}
	c := Diff(from, to)
	return c.Note()
}

// Diff says how catalogue to differs from catalogue from.
func Diff(from, to *Catalog) Changes {
	var c Changes
	if from == to {
		return c
	}
	i, j := 0, 0
	for i < len(from.entries) || j < len(to.entries) {
		switch {
		case j == len(to.entries) || i < len(from.entries) && from.entries[i].id < to.entries[j].id:
			c.Removed = append(c.Removed, from.entries[i].id)
			i++
		case i == len(from.entries) || to.entries[j].id < from.entries[i].id:
			c.Added = append(c.Added, to.entries[j].id)
			j++
		default:
			if !sameTool(&from.entries[i].tool, &to.entries[j].tool) {
				c.Changed = append(c.Changed, to.entries[j].id)
			}
			i++
			j++
		}
	}
	return c
}

func sameTool(a, b *Tool) bool {
	return a.Description == b.Description && a.Title == b.Title &&
		bytes.Equal(a.InputSchema, b.InputSchema) && bytes.Equal(a.OutputSchema, b.OutputSchema) &&
		reflect.DeepEqual(a.Annotations, b.Annotations)
}

// Hash is a SHA-256, in hexadecimal, of all that a model or a user may judge a
// tool by: names, title, description, schemas, annotations. A host that pins it
// notices a tool that changes after it was approved.
func (t Tool) Hash() string {
	h := sha256.New()
	annotations, _ := json.Marshal(t.Annotations)
	var size [8]byte
	for _, part := range [][]byte{
		[]byte(t.Server), []byte(t.Name), []byte(t.Title), []byte(t.Description),
		t.InputSchema, t.OutputSchema, annotations,
	} {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
