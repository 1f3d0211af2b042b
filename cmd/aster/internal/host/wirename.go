package host

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/aster-mcp/aster/bridge"
)

// Bounds on names on the wire: clients put a prefix of their own before them and cut at 64.
const (
	MaxWireName   = 51
	wireNameHash  = 8
	maxOwnName    = 128 // of a server that is served by itself: its names stay as they are
	wireSeparator = "__"
	bridgeTool    = "aster_mcp"
)

// wireName is the name under which a tool is served: server__tool, or the tool's own
// name. Where clients would not take it, or another ID could be written the same way, it
// ends in a hash of the whole ID, so that a name never depends on what else there is.
func (g *Gateway) wireName(t bridge.Tool) string {
	whole, limit := t.Server+wireSeparator+t.Name, MaxWireName
	if g.own {
		whole, limit = t.Name, maxOwnName
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || g.own && (r == '.' || r == '/') {
			return r
		}
		return '_'
	}, whole)
	plain := g.own || strings.Count(whole, wireSeparator) == 1 && !strings.HasSuffix(t.Server, "_") && !strings.HasPrefix(t.Name, "_")
	if name == whole && len(name) <= limit && plain && name != bridgeTool {
		return name
	}
	sum := sha256.Sum256([]byte(t.ID()))
	hash := "_" + hex.EncodeToString(sum[:])[:wireNameHash]
	return name[:min(len(name), limit-len(hash))] + hash
}
