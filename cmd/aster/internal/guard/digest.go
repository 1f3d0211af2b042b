package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/aster-mcp/aster/bridge"
)

const digestPrefix = "sha256:"

// Digest is the SHA-256 of a tool's definition, as "sha256:" and hex: name, title,
// description, both schemas and annotations. The order of keys and the white space in a
// schema make no difference; anything else does. The server's name is not part of it. It
// is safe for concurrent use.
func Digest(t bridge.Tool) string { return digests.of(t, "") }

// maxDigests bounds the digests that are remembered.
const maxDigests = 4096

// digests remembers the digests of definitions as they stand, byte for byte: each call
// needs that of its tool, and to read a large schema takes longer than all else here.
var digests = digestMemo{known: map[[sha256.Size]byte]string{}}

type digestMemo struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]string // by the hash of the definition's bytes; guarded by mu
}

// of is the digest of a tool together with its server's instructions, "" for none.
func (m *digestMemo) of(t bridge.Tool, instructions string) string {
	key := bytesHash(t, instructions)
	m.mu.Lock()
	digest, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return digest
	}
	d := definitionOf(t)
	d[len(d)-1] = instructions
	digest = digestFields(d)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxDigests {
		clear(m.known)
	}
	m.known[key] = digest
	return digest
}

// bytesHash is a hash over a definition as it stands.
func bytesHash(t bridge.Tool, instructions string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, part := range [...][]byte{[]byte(t.Name), []byte(t.Title), []byte(t.Description), t.InputSchema, t.OutputSchema, annotationsOf(t), []byte(instructions)} {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	h.Sum(sum[:0])
	return sum
}

// The fields of a definition, in the order in which they are hashed and shown.
var fieldNames = [...]string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "instructions"}

// A definition is a tool's definition field by field, in the order of fieldNames. The
// last, the server's instructions, is empty outside of Pins.
type definition [len(fieldNames)]string

func definitionOf(t bridge.Tool) definition {
	d := definition{t.Name, t.Title, t.Description, canonical(t.InputSchema), canonical(t.OutputSchema)}
	d[5] = canonical(annotationsOf(t))
	return d
}

// annotationsOf is the annotations as JSON, empty without any.
func annotationsOf(t bridge.Tool) []byte {
	if t.Annotations == nil {
		return nil
	}
	raw, err := json.Marshal(t.Annotations)
	if err != nil { // it holds strings and booleans
		return []byte(err.Error())
	}
	return raw
}

// canonical is a JSON text compact and with sorted keys, or as it is where it cannot be
// read in one way only.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	v, err := decodeStrict(raw)
	if err != nil {
		return string(raw)
	}
	out, err := encode(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

func digestFields(d definition) string {
	h := sha256.New()
	for i, name := range fieldNames {
		fmt.Fprintf(h, "%s %d\n%s\n", name, len(d[i]), d[i])
	}
	return digestPrefix + hex.EncodeToString(h.Sum(nil))
}
