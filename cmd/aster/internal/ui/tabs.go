package ui

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

const (
	tabsTool  = "webmcp_tabs"
	tabsEvery = 5 * time.Second // between two looks at tabs whose tools stay
	tabsWait  = 3 * time.Second
	maxTabs   = 500
	maxNotes  = 10 // of one tab
)

// tabs is what the server of page tools says of the browser.
type tabs struct {
	Browser string `json:"browser"`
	Tabs    []tab  `json:"tabs"`
}

type tab struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	URL   string   `json:"url"`
	State string   `json:"state"`
	Tools []string `json:"tools"` // names
	More  int      `json:"moreTools"`
	Notes []string `json:"notes"`
}

// watchTabs looks at the browser's tabs while a page is open, until ctx ends.
func (s *site) watchTabs(ctx context.Context) {
	var of *bridge.Catalog
	var last time.Time
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		if c := s.o.Pages.Catalog(); len(s.streams) > 0 && (c != of || time.Since(last) >= tabsEvery) {
			of, last = c, time.Now()
			t := s.lookAtTabs(ctx)
			s.mu.Lock()
			s.tabs = t
			s.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookAtTabs is nil where page tools are not served.
func (s *site) lookAtTabs(ctx context.Context) *tabs {
	ctx, cancel := context.WithTimeout(ctx, tabsWait)
	defer cancel()
	raw, err := s.o.Pages.Look(ctx, config.ServerWebMCP, tabsTool)
	if err != nil {
		return nil
	}
	var res struct {
		StructuredContent *tabs `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &res) != nil {
		return nil
	}
	return res.StructuredContent
}

// pageRow is a tab with its tools, or the tools of an origin that no tab is known of.
type pageRow struct {
	Key   string    `json:"key"`
	Title string    `json:"title"`
	URL   string    `json:"url,omitempty"`
	State string    `json:"state,omitempty"`
	Notes []string  `json:"notes,omitempty"`
	Tools []toolRow `json:"tools"`
	More  int       `json:"more,omitempty"` // tools that are not shown
}

// rows are the tabs with their tools, which are taken out of tools, that go by name.
func (t *tabs) rows(tools map[string]toolRow) []pageRow {
	rows := []pageRow{}
	if t == nil {
		return rows
	}
	for _, tab := range t.Tabs[:min(len(t.Tabs), maxTabs)] {
		row := pageRow{Key: tab.ID, Title: guard.Show(tab.Title, maxText), URL: guard.Show(tab.URL, maxText), State: guard.Show(tab.State, maxText), Tools: []toolRow{}, More: tab.More}
		if row.Title == "" {
			row.Title = row.URL
		}
		for _, note := range tab.Notes[:min(len(tab.Notes), maxNotes)] {
			row.Notes = append(row.Notes, guard.Show(note, maxText))
		}
		for _, name := range tab.Tools {
			if tool, ok := tools[name]; ok {
				row.Tools = append(row.Tools, tool)
				delete(tools, name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
