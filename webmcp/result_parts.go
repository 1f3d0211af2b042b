package webmcp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// partTypes are the types of content that a tool result may hold in all
// revisions.
var partTypes = map[string]bool{"text": true, "image": true, "audio": true, "resource": true, "resource_link": true}

// resultMembers are the properties of a tool result.
var resultMembers = map[string]bool{
	"content": true, "isError": true, "structuredContent": true, "_meta": true, "resultType": true,
}

// mcpShaped reports whether an object is meant as a tool result of MCP: its
// "content" is a list, and either a part in it has one of MCP's types or there
// is nothing in the object that MCP does not know. Pages have documents of
// their own with a list of that name.
func mcpShaped(raw json.RawMessage) (members map[string]json.RawMessage, content []json.RawMessage, ok bool) {
	members, foreign := splitObject(raw, resultMembers)
	list := members["content"]
	if len(list) == 0 || list[0] != '[' {
		return nil, nil, false
	}
	content = splitArray(list, maxParts)
	if len(content) == 0 || !foreign {
		return members, content, true
	}
	for _, part := range content {
		if part[0] == '{' && partTypes[partType(part)] {
			return members, content, true
		}
	}
	return nil, nil, false
}

var typeMember = map[string]bool{"type": true}

// partType is the type that a part of content says it has.
func partType(part json.RawMessage) string {
	m, _ := splitObject(part, typeMember)
	s, _ := stringIn(m["type"])
	return s
}

// fromMCP takes over a tool result that a page made.
func (d *draft) fromMCP(members map[string]json.RawMessage, content []json.RawMessage) {
	for i, raw := range content {
		if i == maxParts {
			d.text("[the parts from number " + strconv.Itoa(i+1) + " on, as JSON]\n" + compactJSON(raw))
			break
		}
		p := partReader{d: d, number: i + 1}
		p.read(raw)
	}
	switch flag := members["isError"]; string(flag) {
	case "true":
		d.isError = true
	case "false", "":
	default:
		d.note("the tool's isError is left out: it is not a boolean")
	}
	if meta := members["_meta"]; meta != nil && string(meta) != "null" {
		var problem string
		if d.meta, problem = d.readMeta(meta); problem != "" {
			d.note("the tool's _meta is left out: %s", problem)
		}
	}
	d.readStructured(members["structuredContent"])
}

// readStructured takes over structuredContent. What is not an object, which
// revisions up to 2025-11-25 want, becomes text.
func (d *draft) readStructured(raw json.RawMessage) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '{':
		d.structured = raw
		if len(d.pieces) == 0 {
			d.text(compactJSON(raw))
		}
	default:
		words := compactJSON(raw)
		for _, p := range d.pieces {
			if p.words == words {
				return
			}
		}
		d.text(words)
	}
}

// partReader takes over one part of content. What of it cannot be used is
// told in notes.
type partReader struct {
	d      *draft
	number int
	m      map[string]json.RawMessage
}

var partMembers = map[string]bool{
	"type": true, "text": true, "data": true, "mimeType": true, "resource": true, "uri": true, "name": true,
	"title": true, "description": true, "size": true, "icons": true, "annotations": true, "_meta": true,
}

func (p *partReader) read(raw json.RawMessage) {
	switch raw[0] {
	case '"':
		p.d.text(jsonText(raw)) // the page meant it as text
		return
	case '{':
		p.m, _ = splitObject(raw, partMembers)
	default:
		p.bad("it is not an object", raw)
		return
	}
	typ, ok := stringIn(p.m["type"])
	switch {
	case !ok:
		p.bad("its type is missing or not a string", raw)
	case typ == "text":
		p.readText(raw)
	case typ == "image" || typ == "audio":
		p.readMedia(typ)
	case typ == "resource":
		p.readResource(raw)
	case typ == "resource_link":
		p.readLink(raw)
	default:
		p.bad("unknown content type "+strconv.Quote(clipText(typ, maxPartNoteRunes)), raw)
	}
}

// bad puts a note in the place of a part, with the part itself as JSON unless
// raw is nil.
func (p *partReader) bad(problem string, raw json.RawMessage) {
	note := "[part " + strconv.Itoa(p.number) + " of the tool's result cannot be shown: " + problem + "]"
	if raw != nil {
		note += "\n" + compactJSON(raw)
	}
	p.d.text(note)
}

// minor notes what of a part that is shown is left out.
func (p *partReader) minor(problems ...string) {
	if len(problems) > 0 {
		p.d.note("part %d of the tool's result: left out: %s", p.number, strings.Join(problems, "; "))
	}
}

// add adds the part, and notes on its annotations and _meta.
func (p *partReader) add(words string, make func(mcp.Meta, *mcp.Annotations) mcp.Content) {
	var meta mcp.Meta
	var annotations *mcp.Annotations
	var problems []string
	if raw := p.m["_meta"]; raw != nil && string(raw) != "null" {
		var problem string
		if meta, problem = p.d.readMeta(raw); problem != "" {
			problems = append(problems, "_meta: "+problem)
		}
	}
	if raw := p.m["annotations"]; raw != nil && string(raw) != "null" {
		var problem string
		if annotations, problem = p.d.readAnnotations(raw); problem != "" {
			problems = append(problems, "annotations: "+problem)
		}
	}
	p.d.pieces = append(p.d.pieces, piece{make(meta, annotations), words})
	p.minor(problems...)
}

func (p *partReader) readText(raw json.RawMessage) {
	value := p.m["text"]
	text, ok := stringIn(value)
	if !ok {
		if len(value) == 0 || value[0] == '{' || value[0] == '[' || string(value) == "null" {
			p.bad("its text is missing or not a string", raw)
			return
		}
		text = string(value) // a number or a boolean
	}
	p.add(text, func(m mcp.Meta, a *mcp.Annotations) mcp.Content {
		return &mcp.TextContent{Text: text, Meta: m, Annotations: a}
	})
}

func (p *partReader) readMedia(typ string) {
	text, ok := stringIn(p.m["data"])
	if !ok {
		p.bad("the data of its "+typ+" is missing or not a string", nil)
		return
	}
	data, claimed, problem := p.d.decodeMedia(text)
	if problem != "" {
		p.bad("the data of its "+typ+" "+problem, nil)
		return
	}
	if s, ok := stringIn(p.m["mimeType"]); ok && s != "" {
		claimed = s
	}
	mimeType := mediaType(typ, claimed, data)
	if mimeType == "" {
		p.bad("the mimeType of its "+typ+" is missing or not one of "+typ, nil)
		return
	}
	p.add("", func(m mcp.Meta, a *mcp.Annotations) mcp.Content {
		if typ == "audio" {
			return &mcp.AudioContent{Data: data, MIMEType: mimeType, Meta: m, Annotations: a}
		}
		return &mcp.ImageContent{Data: data, MIMEType: mimeType, Meta: m, Annotations: a}
	})
}

func (p *partReader) readResource(raw json.RawMessage) {
	if len(p.m["resource"]) == 0 || p.m["resource"][0] != '{' {
		p.bad("its resource is missing or not an object", raw)
		return
	}
	in, _ := splitObject(p.m["resource"], map[string]bool{"uri": true, "mimeType": true, "text": true, "blob": true, "_meta": true})
	uri, ok := stringIn(in["uri"])
	if !ok || !absoluteURI(uri) {
		p.bad("the uri of its resource is missing or not an absolute URI", raw)
		return
	}
	res := &mcp.ResourceContents{URI: uri}
	var problems []string
	var problem string
	if res.MIMEType, problem = optionalString(in, "mimeType"); problem != "" {
		problems = append(problems, problem)
	}
	words := ""
	if text, ok := stringIn(in["text"]); ok {
		res.Text, words = text, "resource "+uri+":\n"+text
		if text == "" {
			res.Blob = []byte{} // the SDK leaves an empty text out, and one of the two must be there
		}
	} else if blob, ok := stringIn(in["blob"]); ok {
		data, _, problem := p.d.decodeMedia(blob)
		if problem != "" && blob != "" {
			p.bad("the blob of its resource "+problem, nil)
			return
		}
		res.Blob = append([]byte{}, data...)
	} else {
		p.bad("its resource has neither a text nor a blob that is a string", raw)
		return
	}
	if meta := in["_meta"]; meta != nil && string(meta) != "null" {
		if res.Meta, problem = p.d.readMeta(meta); problem != "" {
			problems = append(problems, "_meta of the resource: "+problem)
		}
	}
	p.add(words, func(m mcp.Meta, a *mcp.Annotations) mcp.Content {
		return &mcp.EmbeddedResource{Resource: res, Meta: m, Annotations: a}
	})
	p.minor(problems...)
}

func (p *partReader) readLink(raw json.RawMessage) {
	uri, ok := stringIn(p.m["uri"])
	if !ok || !absoluteURI(uri) {
		p.bad("the uri of its resource_link is missing or not an absolute URI", raw)
		return
	}
	link := &mcp.ResourceLink{URI: uri}
	var problems []string
	for _, f := range []struct {
		name  string
		value *string
	}{{"name", &link.Name}, {"title", &link.Title}, {"description", &link.Description}, {"mimeType", &link.MIMEType}} {
		var problem string
		if *f.value, problem = optionalString(p.m, f.name); problem != "" {
			problems = append(problems, problem)
		}
	}
	if link.Name == "" { // required
		link.Name = link.Title
	}
	if link.Name == "" {
		link.Name = uri
	}
	if raw := p.m["size"]; raw != nil && string(raw) != "null" {
		if size, err := strconv.ParseFloat(string(raw), 64); err == nil && size >= 0 && size <= 1<<53 && size == math.Trunc(size) {
			n := int64(size)
			link.Size = &n
		} else {
			problems = append(problems, "size is not a number of bytes")
		}
	}
	if icons := p.m["icons"]; icons != nil && string(icons) != "null" {
		var problem string
		if link.Icons, problem = p.d.readIcons(icons); problem != "" {
			problems = append(problems, "icons: "+problem)
		}
	}
	words := strings.TrimSpace("resource " + link.Name + ": " + uri + " " + link.Description)
	p.add(words, func(m mcp.Meta, a *mcp.Annotations) mcp.Content {
		link.Meta, link.Annotations = m, a
		return link
	})
	p.minor(problems...)
}
