package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// standInEntries makes a list of prompts, resources or templates that the SDK can decode of
// one that it cannot, with what is left out. It is nil for one that the SDK can decode, and
// for what is no list.
func standInEntries(method string, result json.RawMessage) (stand []byte, problems []string) {
	switch method {
	case methodListPrompts:
		return withoutBad[mcp.ListPromptsResult, mcp.Prompt](result, "prompts")
	case methodListResources:
		return withoutBad[mcp.ListResourcesResult, mcp.Resource](result, "resources")
	}
	return withoutBad[mcp.ListResourceTemplatesResult, mcp.ResourceTemplate](result, "resourceTemplates")
}

// withoutBad keeps the entries of a list that can be decoded, and the cursor.
func withoutBad[List, Entry any](result json.RawMessage, key string) (stand []byte, problems []string) {
	isNull := func(raw json.RawMessage) bool { return string(raw) == "null" }
	var members map[string]json.RawMessage
	var entries []json.RawMessage
	if json.Unmarshal(result, &members) != nil || json.Unmarshal(members[key], &entries) != nil {
		return nil, nil
	}
	if json.Unmarshal(result, new(List)) == nil && !slices.ContainsFunc(entries, isNull) {
		return nil, nil
	}
	good := []json.RawMessage{}
	for i, raw := range entries {
		entry, err := new(Entry), error(nil)
		if isNull(raw) {
			err = errors.New("it is null")
		} else {
			err = json.Unmarshal(raw, entry)
		}
		switch {
		case err == nil:
			good = append(good, plain(entry))
		case len(problems) < maxProblems:
			problems = append(problems, fmt.Sprintf("%s, entry %d: %s", key, i+1, oneLine(err.Error(), maxDetail)))
		}
	}
	list := map[string]any{key: good}
	var cursor string
	if json.Unmarshal(members["nextCursor"], &cursor) == nil && cursor != "" {
		list["nextCursor"] = cursor
	}
	return plain(list), problems
}
