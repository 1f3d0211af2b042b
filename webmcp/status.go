package webmcp

import (
	"time"

	"github.com/aster-mcp/aster/cdp"
)

// state is where a Browser stands with its browser.
type state string

const (
	stateStarting   state = "looking for a browser"
	stateLaunching  state = "starting a browser"
	stateConnecting state = "connecting"
	stateWaiting    state = "waiting for you to allow the connection in Chrome"
	stateConnected  state = "connected"
	stateRefused    state = "the connection was refused in the browser; run aster doctor, or restart the browser, to be asked again"
	stateLost       state = "the browser is gone; aster waits for it to start again"
	stateNone       state = "no browser found"
)

// status is what webmcp_tabs says of the browser.
type status struct {
	state    state
	endpoint cdp.Endpoint
	others   []cdp.Endpoint
	err      error // why, where there is a why
	since    time.Time
}

func (b *Browser) setStatus(s status) {
	s.since = time.Now()
	b.mu.Lock()
	b.status = s
	b.mu.Unlock()
	switch s.state {
	case stateWaiting, stateRefused, stateLost, stateNone:
		b.ready.set() // there are no pages to wait for
		b.settled.set()
	}
}

func (b *Browser) currentStatus() status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

// focus is what is known of the tab in front, for ClientOptions.ActiveTab.
type focus struct {
	tab string
}

// activeTab is the target ID of the visible tab that last had the focus, or "".
func (b *Browser) activeTab() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.focus.tab
}
