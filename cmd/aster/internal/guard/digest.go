package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/aster-mcp/aster/bridge"
)

const digestPrefix = "sha256:"

// Digest is the SHA-256 of a tool's definition, as "sha256:" and hex: name, title,
// description, both schemas and annotations. The order of keys and the white space in a
// schema make no difference; anything else does. The server's name is not part of it.
func Digest(t bridge.Tool) string { return digestFields(definitionOf(t)) }

// The fields of a definition, in the order in which they are hashed and shown.
var fieldNames = [...]string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "instructions"}

// A definition is a tool's definition field by field, in the order of fieldNames. The
// last, the server's instructions, is empty outside of Pins.
type definition [len(fieldNames)]string

func definitionOf(t bridge.Tool) definition {
	d := definition{t.Name, t.Title, t.Description, canonical(t.InputSchema), canonical(t.OutputSchema)}
	if t.Annotations != nil {
		raw, err := json.Marshal(t.Annotations)
		if err != nil { // it holds strings and booleans
			raw = []byte(err.Error())
		}
		d[5] = canonical(raw)
	}
	return d
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
