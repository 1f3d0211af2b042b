package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func begin(id string) *guard.Entry {
	return &guard.Entry{ID: id, Event: "begin", Time: time.Unix(1_800_000_000, 0).UTC(), Tool: "fs/read", Decision: "allow", By: "rule", Arguments: json.RawMessage(`{"path":"/x"}`)}
}

func end(id string, o guard.Outcome) *guard.Entry {
	return &guard.Entry{ID: id, Event: "end", Time: time.Unix(1_800_000_001, 0).UTC(), Tool: "fs/read", Outcome: o, DurationMS: 12, ResultBytes: 34}
}

func readAll(t testing.TB, path string) (entries []*guard.Entry, torn int) {
	t.Helper()
	var res guard.ReadResult
	for e, err := range guard.ReadLog(path, &res) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries, res.Torn
}

func TestLogWritesLines(t *testing.T) {
	t.Run("security row 13: mode 0600", func(t *testing.T) {
		path := logPath(t)
		l := guard.NewLog(path, nil)
		if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
			t.Error("NewLog made the directory before the first entry")
		}
		if err := errors.Join(l.Begin(t.Context(), begin("1")), l.End(t.Context(), end("1", guard.OutcomeSuccess)), l.Close()); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"id":"1","event":"begin","time":"2027-01-15T08:00:00Z","tool":"fs/read","decision":"allow","by":"rule","arguments":{"path":"/x"}}
{"id":"1","event":"end","time":"2027-01-15T08:00:01Z","tool":"fs/read","outcome":"success","duration_ms":12,"result_bytes":34}
`
		if diff := cmp.Diff(want, string(raw)); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
		if err := l.Begin(t.Context(), begin("2")); !errors.Is(err, guard.ErrLogClosed) {
			t.Errorf("after Close: %v, want ErrLogClosed", err)
		}
		if runtime.GOOS == "windows" {
			return
		}
		for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, want %v (%v)", p, info.Mode().Perm(), want, err)
			}
		}
		// A file that others could read is closed to them.
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		l = guard.NewLog(path, nil)
		defer l.Close()
		if err := l.Begin(t.Context(), begin("3")); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
			t.Errorf("the mode stayed %v", info.Mode().Perm())
		}
	})
}

// A crash may tear the last line at any byte. What was whole before stays readable, and so
// is all that comes after, from the same process or another.
func TestTornLine(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, nil)
	if err := errors.Join(l.Begin(t.Context(), begin("1")), l.End(t.Context(), end("1", guard.OutcomeSuccess))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := last; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		for i, w := range []*guard.Log{l, guard.NewLog(path, nil)} {
			if err := w.Begin(t.Context(), begin(fmt.Sprint("next", i))); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				w.Close()
			}
		}
		entries, torn := readAll(t, path)
		n := len(entries)
		// Only the newline missing leaves a whole entry.
		if all := cut == len(whole)-1; n != 3+btoi(all) || torn != btoi(cut > last && !all) || entries[n-1].ID != "next1" || entries[n-2].ID != "next0" {
			t.Fatalf("cut at %d of %d: %d entries, %d torn", cut, len(whole), n, torn)
		}
	}
	l.Close()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fullDisk is a file on a disk that takes only so many bytes more.
type fullDisk struct {
	*os.File
	left *int
}

func (f fullDisk) Write(p []byte) (int, error) {
	if len(p) <= *f.left {
		*f.left -= len(p)
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:*f.left])
	*f.left = 0
	return n, syscall.ENOSPC
}

// On a full disk calls are refused, and when there is room again the record goes on,
// whatever the byte at which it was cut.
func TestDiskFull(t *testing.T) {
	allow := policy(t, guard.PolicyOptions{Rules: []guard.Rule{{Action: guard.Allow, Tools: []string{"fs"}}}})
	for room := 0; room < 700; room += 3 {
		path, left := logPath(t), room
		l := guard.NewLog(path, &guard.LogOptions{Open: func(p string) (guard.LogFile, error) {
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				return nil, err
			}
			f, err := os.OpenFile(p, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
			return fullDisk{f, &left}, err
		}})
		g, _ := newGuard(t, guard.Options{Auditor: l, Policy: allow})
		made := 0
		call := func(context.Context, json.RawMessage) (guard.Report, error) { made++; return guard.Report{}, nil }
		for range 3 {
			before := made
			if err := g.Invoke(t.Context(), request("fs", "read", `{}`), call); err == nil != (made == before+1) || err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("room for %d: %v with %d calls", room, err, made-before)
			}
		}
		left = 1 << 20
		if err := g.Invoke(t.Context(), request("fs", "again", `{}`), call); err != nil {
			t.Fatalf("room for %d: with room again: %v", room, err)
		}
		entries, torn := readAll(t, path)
		begun := 0
		for _, e := range entries {
			if e.Event == "begin" {
				begun++
			}
		}
		// A begin that was cut just before its newline may be there without its call.
		if n := len(entries); begun < made || begun > made+1 || torn > 2 || entries[n-1].Tool != "fs/again" || entries[n-1].Outcome != guard.OutcomeSuccess {
			t.Fatalf("room for %d: %d calls, %d begun, %d torn", room, made, begun, torn)
		}
		l.Close()
	}
}

// Several writers share a file and rotate it. No entry is lost, doubled or broken.
func TestRotationRace(t *testing.T) {
	path := logPath(t)
	const writers, each = 4, 60
	var wg sync.WaitGroup
	for w := range writers {
		l := guard.NewLog(path, &guard.LogOptions{MaxBytes: 4000, Keep: 500})
		defer l.Close()
		for half := range 2 { // two goroutines share each log
			wg.Go(func() {
				for i := half; i < each; i += 2 {
					id := fmt.Sprintf("%d-%d", w, i)
					if err := errors.Join(l.Begin(context.Background(), begin(id)), l.End(context.Background(), end(id, guard.OutcomeSuccess))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	entries, torn := readAll(t, path)
	seen := map[string]int{}
	for _, e := range entries {
		seen[e.ID+e.Event]++
	}
	if len(entries) != 2*writers*each || len(seen) != len(entries) || torn != 0 {
		t.Errorf("%d entries of which %d differ, %d torn, want %d whole ones", len(entries), len(seen), torn, 2*writers*each)
	}
	if _, err := os.Stat(path + ".2"); err != nil {
		t.Errorf("the file was not rotated: %v", err)
	}
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stayed: %v", err)
	}
}

func TestRotationKeeps(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, &guard.LogOptions{MaxBytes: 400, Keep: 2})
	defer l.Close()
	for i := range 30 {
		if err := l.Begin(t.Context(), begin(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(path + "*")
	if len(names) != 3 {
		t.Errorf("files %v, want the present one and two", names)
	}
	for _, name := range names {
		if info, _ := os.Stat(name); info.Size() > 400 {
			t.Errorf("%s has %d bytes, want at most 400", name, info.Size())
		}
	}
	entries, _ := readAll(t, path)
	if n := len(entries); n < 4 || entries[n-1].ID != "29" {
		t.Errorf("%d entries, the last %v, want the newest", n, entries[n-1])
	}
	for i := 1; i < len(entries); i++ {
		if entries[i-1].ID >= entries[i].ID {
			t.Errorf("entry %s stands before %s", entries[i-1].ID, entries[i].ID)
		}
	}
}

// A lock that a dead process left holds rotation up, not the record, and goes with age.
func TestStaleLock(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, &guard.LogOptions{MaxBytes: 200})
	defer l.Close()
	if err := l.Begin(t.Context(), begin("1")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	if err := l.Begin(t.Context(), begin("2")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".1"); err != nil {
		t.Errorf("not rotated: %v", err)
	}
}

func TestRemovedFileIsMadeAnew(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, nil)
	defer l.Close()
	for range 2 {
		if err := l.Begin(t.Context(), begin("1")); err != nil {
			t.Fatal(err)
		}
		if entries, _ := readAll(t, path); len(entries) != 1 {
			t.Fatalf("%d entries, want 1", len(entries))
		}
		if err := os.Remove(path); err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
	}
}

func TestLargeEntry(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, nil)
	defer l.Close()
	e := begin("1")
	e.Arguments = json.RawMessage(`"` + strings.Repeat("x", guard.MaxEntryBytes) + `"`)
	if err := l.Begin(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Tool = bridge.ToolID(strings.Repeat("x", guard.MaxEntryBytes))
	if err := l.Begin(t.Context(), e); err == nil {
		t.Error("an entry that cannot be made smaller was written")
	}
	if entries, torn := readAll(t, path); len(entries) != 1 || torn != 0 || string(entries[0].Arguments) != `"(too large to keep)"` {
		t.Errorf("read %v, %d torn", entries, torn)
	}
}

func TestArgumentsAreKeptShort(t *testing.T) {
	never := policy(t, guard.PolicyOptions{Mode: guard.ModeNever})
	long := `{"a":"` + strings.Repeat("ü", 5000) + `","b":[1,2]}`
	for _, tt := range []struct {
		limit int
		want  func(raw string) bool
	}{
		{0, func(raw string) bool { return strings.Contains(raw, "üü…") && len(raw) < 1100 }},
		{100, func(raw string) bool {
			return strings.Contains(raw, "üü…") && len(raw) <= 100 && strings.Contains(raw, "[1,2]")
		}},
		{10, func(raw string) bool { return raw == `"(too large to keep)"` }},
		{-1, func(raw string) bool { return raw == "" }},
	} {
		g, m := newGuard(t, guard.Options{Policy: never, ArgumentBytes: tt.limit})
		if err := g.Invoke(t.Context(), request("fs", "x", long), (&calls{}).call); err != nil {
			t.Fatal(err)
		}
		b, _ := m.last(t)
		if raw := string(b.Arguments); !tt.want(raw) || raw != "" && !json.Valid([]byte(raw)) || b.ArgBytes != len(long) {
			t.Errorf("limit %d: kept %q of %d bytes", tt.limit, raw, b.ArgBytes)
		}
	}
}

func TestRecords(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, nil)
	defer l.Close()
	for _, e := range []*guard.Entry{begin("a"), begin("b"), end("b", guard.OutcomeFailure), end("lost", guard.OutcomeSuccess), begin("c")} {
		if err := l.Begin(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for r, err := range guard.Records(guard.ReadLog(path, nil)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %v", r.ID, r.Outcome, r.Ended))
	}
	if diff := cmp.Diff([]string{"b failure true", "lost success true", "a  false", "c  false"}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if entries, _ := readAll(t, filepath.Join(t.TempDir(), "none")); entries != nil {
		t.Errorf("a log that does not exist has entries: %v", entries)
	}
}

func TestFollow(t *testing.T) {
	path := logPath(t)
	l := guard.NewLog(path, &guard.LogOptions{MaxBytes: 1000, Keep: 100})
	defer l.Close()
	if err := l.Begin(t.Context(), begin("old")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, ready := make(chan string, 1000), make(chan error, 1)
	go func() {
		ready <- guard.FollowLog(ctx, path, func(e *guard.Entry) error { got <- e.ID; return nil })
	}()
	// What is written before the follower looks is not its business: write until it sees one.
	next := func() string {
		select {
		case id := <-got:
			return id
		case <-ctx.Done():
			t.Fatal("no entry came")
			return ""
		}
	}
	for seen := false; !seen; {
		if err := l.Begin(t.Context(), begin("first")); err != nil {
			t.Fatal(err)
		}
		select {
		case id := <-got:
			if seen = true; id != "first" {
				t.Fatalf("the first entry is %q, want first", id)
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	for i := range 40 { // over several rotations
		if err := l.Begin(t.Context(), begin(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 { // a follower that looks often enough sees every file
			for id := next(); id != fmt.Sprint(i); id = next() {
			}
		}
	}
	// A line that comes in two parts is one entry.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, _ := json.Marshal(begin("parts"))
	for _, part := range [][]byte{line[:20], append(line[20:], '\n')} {
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	for id := next(); id != "parts"; id = next() {
	}
	cancel()
	if err := <-ready; err != nil {
		t.Errorf("FollowLog = %v after its context ended, want nil", err)
	}
	stop := errors.New("enough")
	go func() { ready <- guard.FollowLog(t.Context(), path, func(*guard.Entry) error { return stop }) }()
	for done := false; !done; {
		if err := l.Begin(t.Context(), begin("x")); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ready:
			if done = true; !errors.Is(err, stop) {
				t.Errorf("FollowLog = %v, want fn's error", err)
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestStats(t *testing.T) {
	path := logPath(t)
	now := time.Unix(1_800_000_000, 0)
	l := guard.NewLog(path, &guard.LogOptions{Now: func() time.Time { return now }})
	defer l.Close()
	g, _ := newGuard(t, guard.Options{Auditor: l, Now: func() time.Time { now = now.Add(10 * time.Millisecond); return now },
		Approver: &answers{answer: guard.AnswerNo},
		Policy:   policy(t, guard.PolicyOptions{Rules: []guard.Rule{{Action: guard.Allow, Tools: []string{"fs"}}, {Action: guard.Deny, Tools: []string{"fs/rm"}}}})})
	for _, call := range []struct{ server, name string }{{"fs", "read"}, {"fs", "read"}, {"fs", "rm"}, {"gh", "x"}, {"fs", "list"}} {
		_ = g.Invoke(t.Context(), request(call.server, call.name, `{}`), (&calls{}).call)
	}
	for _, e := range []bridge.Event{
		{Kind: bridge.EventInjected, ManifestTokens: 900, PromptTokens: 800, BudgetTokens: 1500},
		{Kind: bridge.EventSearched, Hits: 3}, {Kind: bridge.EventSearched}, {Kind: bridge.EventDescribed, ID: "fs/read"},
		{Kind: bridge.EventExecuted, ID: "fs/read", Described: true}, {Kind: bridge.EventExecuted, ID: "fs/list"}, {Kind: bridge.EventRefused, Err: errors.New("x")},
	} {
		l.Record(e)
	}
	s, err := guard.Summarize(guard.ReadLog(path, nil), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(s.Tools)
	s.Tools, s.From, s.To = nil, time.Time{}, time.Time{}
	want := &guard.Stats{Calls: 5, Outcomes: map[guard.Outcome]int{"success": 3, "denied": 2}, Asked: 1, Refused: 1, DeniedBy: map[string]int{"rule": 1, "user": 1},
		Searches: 2, EmptySearches: 1, Described: 1, DescribedCalls: 1, BadRequests: 1, ManifestTokens: 900, PromptTokens: 800, BudgetTokens: 1500}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	wantTools := `[{"id":"fs/read","calls":2,"outcomes":{"success":2},"p50Ms":10,"p95Ms":10,"bytes":14},` +
		`{"id":"fs/list","calls":1,"outcomes":{"success":1},"p50Ms":10,"p95Ms":10,"bytes":7},` +
		`{"id":"fs/rm","calls":1,"outcomes":{"denied":1},"p50Ms":0,"p95Ms":0,"bytes":0},` +
		`{"id":"gh/x","calls":1,"outcomes":{"denied":1},"p50Ms":0,"p95Ms":0,"bytes":0}]`
	if diff := cmp.Diff(wantTools, string(raw)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if s, err := guard.Summarize(guard.ReadLog(path, nil), now.Add(time.Hour)); err != nil || s.Calls != 0 {
		t.Errorf("since a time after all: %d calls, %v", s.Calls, err)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(`{"id":"1","event":"begin","time":"2027-01-15T08:00:00Z"}` + "\n" + `{"id":"1","ev`))
	f.Add([]byte("\n\n\x00{}\n[]\nnull\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := guard.Summarize(guard.ReadLog(path, nil), time.Time{}); err != nil {
			t.Fatal(err)
		}
		// Whatever is in the file, what is written to it now can be read.
		l := guard.NewLog(path, nil)
		if err := errors.Join(l.Begin(t.Context(), begin("new")), l.Close()); err != nil {
			t.Fatal(err)
		}
		entries, _ := readAll(t, path)
		if n := len(entries); n == 0 || entries[n-1].ID != "new" {
			t.Fatalf("the new entry is not the last of %d", n)
		}
	})
}
