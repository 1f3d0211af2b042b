package bridge

import "encoding/json"

// toolName is what the model calls.
const toolName = "aster_mcp"

const toolDescription = "Find, inspect and call this session's MCP tools. " +
	"search: a few words each in a tool's vocabulary (\"verb object\"); hits show ID(parameters), * is required, ~ a weak hit. " +
	"describe: full schemas. execute: call one tool by its server/tool ID. Never invent IDs or parameters."

// The schema keeps to what every provider accepts: no unions, no references,
// nothing required but action.
const (
	schemaHead = `{"type":"object","properties":{"action":{"type":"string","enum":["search","describe","execute"`
	schemaBody = `]},` +
		`"query":{"type":"string","description":"search: what to find"},` +
		`"queries":{"type":"array","items":{"type":"string"},"description":"search: several tasks or phrasings at once"},` +
		`"server":{"type":"string","description":"search: kind of server that would have it; a hint"},` +
		`"limit":{"type":"integer","description":"search: hits per query"},` +
		`"name":{"type":"string","description":"describe, execute: server/tool"},` +
		`"names":{"type":"array","items":{"type":"string"},"description":"describe: several"},` +
		`"arguments":{"type":"object","description":"execute: the tool's arguments"}`
	schemaRead = `,"handle":{"type":"string","description":"read: handle of a cut result"}`
	schemaTail = `},"required":["action"]}`
)

// parameters is the bridge's input schema, with the action read or without.
func parameters(read bool) json.RawMessage {
	if read {
		return json.RawMessage(schemaHead + `,"read"` + schemaBody + schemaRead + schemaTail)
	}
	return json.RawMessage(schemaHead + schemaBody + schemaTail)
}

// openAITool is the definition for an OpenAI-shaped tools array.
func openAITool(read bool) json.RawMessage {
	description, _ := json.Marshal(toolDescription)
	return json.RawMessage(`{"type":"function","function":{"name":"` + toolName + `","description":` +
		string(description) + `,"parameters":` + string(parameters(read)) + `}}`)
}

// MCPTool is the definition of aster_mcp for a tools/list, with the action read or
// without: that of [Injection], for a host that lists it before it has a catalogue.
func MCPTool(read bool) json.RawMessage { return mcpTool(read) }

// mcpTool is the definition for a tools/list.
func mcpTool(read bool) json.RawMessage {
	description, _ := json.Marshal(toolDescription)
	return json.RawMessage(`{"name":"` + toolName + `","description":` + string(description) +
		`,"inputSchema":` + string(parameters(read)) + `}`)
}
