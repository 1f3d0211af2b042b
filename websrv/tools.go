package websrv

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools registers the five tools.
func (s *Server) addTools() {
	for _, t := range []struct {
		op                         Op
		title, text, input, output string
		repeatable                 bool
	}{
		{OpSearch, "Search the web", "Searches the web and gives titles, addresses and snippets. Filters that the provider lacks are applied to its answer, or listed under ignored.", searchSchema, searchOutput, true},
		{OpExtract, "Read pages", "Reads a page, or up to 10 side by side, as Markdown: articles, forums, products, documentation, PDF, Office files, feeds and JSON. " +
			"A reply has at most maxTokens; cursor reads on, outline lists a long page's headings and section reads one of them.", extractSchema, extractOutput, true},
		{OpCrawl, "Read a site", "Follows a site's links from one page and gives the text of the pages, with progress on the way. The local crawler keeps to robots.txt and, if not configured otherwise, one request a second. " +
			"The field cursor reads on in the text, the field next continues the crawl: give either as cursor. " +
			"Crawls of thousands of pages are for hosted engines: set FIRECRAWL_API_KEY, CONTEXT_DEV_API_KEY or the Cloudflare pair.", crawlSchema, crawlOutput, false},
		{OpSitemap, "List a site's pages", "Lists the addresses of a site from its sitemaps, feeds and robots.txt, or its home page's links. The field next, given as cursor, reads on.", sitemapSchema, sitemapOutput, true},
		{OpScreenshot, "Take a picture of a page", "Takes a picture of a page: the viewport, the whole page or one element.", screenshotSchema, screenshotOutput, true},
	} {
		yes := true
		s.server.AddTool(&mcp.Tool{Name: string(t.op), Title: t.title, Description: s.describe(t.op, t.text), InputSchema: json.RawMessage(t.input), OutputSchema: json.RawMessage(t.output),
			Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: true, OpenWorldHint: &yes, IdempotentHint: t.repeatable}}, s.handle)
	}
}

const searchSchema = `{"type":"object","properties":{
"query":{"type":"string","minLength":1,"maxLength":500,"description":"What to search for"},
"limit":{"type":"integer","minimum":1,"maximum":20,"description":"Results wanted; 10 by default"},
"domains":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"Only these domains and those below them"},
"excludeDomains":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"None of these domains"},
"since":{"type":"string","description":"Published on this day or later, such as 2026-01-31"},
"until":{"type":"string","description":"Published on this day or earlier"},
"recency":{"type":"string","enum":["day","week","month","year"],"description":"Published within the last day, week, month or year"},
"region":{"type":"string","description":"Country by its two letters, such as de"},
"language":{"type":"string","description":"Language by its two letters"},
"safe":{"type":"string","enum":["strict","moderate","off"],"description":"Filter of adult content"},
"maxTokens":{"type":"integer","minimum":500,"maximum":25000,"description":"Length of the reply; 8000 by default"}},
"required":["query"],"additionalProperties":false}`

const extractSchema = `{"type":"object","properties":{
"url":{"type":"string","description":"Address of the page"},
"urls":{"type":"array","items":{"type":"string"},"maxItems":10,"description":"Instead of url: several pages, read side by side"},
"format":{"type":"string","enum":["markdown","text","html","links","metadata"],"description":"What to give; markdown by default"},
"maxTokens":{"type":"integer","minimum":500,"maximum":25000,"description":"Length of the reply; 8000 by default"},
"cursor":{"type":"string","description":"Reads on in a long page: the cursor of the reply before"},
"outline":{"type":"boolean","description":"Only the headings, numbered, with the size of their sections"},
"section":{"type":"string","description":"Only the section under this heading, by its text or its number in the outline"},
"include":{"type":"array","items":{"type":"string"},"maxItems":10,"description":"CSS selectors of what to keep, instead of the main text"},
"exclude":{"type":"array","items":{"type":"string"},"maxItems":10,"description":"CSS selectors of what to leave out"},
"render":{"type":"string","enum":["auto","never","always"],"description":"Whether the page's scripts are run; auto by default"},
"fresh":{"type":"boolean","description":"Read the page anew, past every cache"}},
"additionalProperties":false}`

const crawlSchema = `{"type":"object","properties":{
"url":{"type":"string","description":"Where to begin"},
"maxPages":{"type":"integer","minimum":1,"maximum":1000,"description":"Pages to read; 20 by default"},
"maxDepth":{"type":"integer","minimum":0,"maximum":10,"description":"Links to follow away from the first page; 2 by default, 0 reads it alone"},
"include":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"Only paths that match one of these globs, such as /docs/**"},
"exclude":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"No paths that match one of these globs"},
"subdomains":{"type":"boolean","description":"Follow links to subdomains too"},
"render":{"type":"string","enum":["auto","never","always"],"description":"Whether the pages' scripts are run; auto by default"},
"timeoutSeconds":{"type":"integer","minimum":1,"maximum":600,"description":"Time for the crawl; 60 by default. What is read by then is the reply"},
"maxTokens":{"type":"integer","minimum":500,"maximum":25000,"description":"Length of the reply; 8000 by default"},
"cursor":{"type":"string","description":"The field cursor or next of an earlier reply; url is not needed then"}},
"additionalProperties":false}`

const sitemapSchema = `{"type":"object","properties":{
"url":{"type":"string","description":"A site, or the address of a sitemap"},
"search":{"type":"string","maxLength":200,"description":"Only addresses that hold this text"},
"limit":{"type":"integer","minimum":1,"maximum":5000,"description":"Addresses wanted; 200 by default"},
"subdomains":{"type":"boolean","description":"Addresses of subdomains too"},
"cursor":{"type":"string","description":"The field next of an earlier reply; url is not needed then"}},
"additionalProperties":false}`

const screenshotSchema = `{"type":"object","properties":{
"url":{"type":"string","description":"Address of the page"},
"fullPage":{"type":"boolean","description":"The whole page instead of the viewport"},
"selector":{"type":"string","maxLength":200,"description":"CSS selector: only this element"},
"width":{"type":"integer","minimum":100,"maximum":4000,"description":"Of the viewport, in CSS pixels; 1280 by default"},
"height":{"type":"integer","minimum":100,"maximum":4000,"description":"Of the viewport; 800 by default"},
"deviceScale":{"type":"number","minimum":0.5,"maximum":3,"description":"Picture pixels for a CSS pixel; 1 by default"},
"format":{"type":"string","enum":["png","jpeg","webp"],"description":"png by default"},
"quality":{"type":"integer","minimum":1,"maximum":100,"description":"Of jpeg and webp; 80 by default"},
"waitFor":{"type":"string","maxLength":200,"description":"CSS selector to wait for before the picture is taken"},
"waitMs":{"type":"integer","minimum":0,"maximum":10000,"description":"Milliseconds to wait after the page has loaded"}},
"required":["url"],"additionalProperties":false}`

// attemptsOutput describes a list of Attempt.
const attemptsOutput = `{"type":"array","description":"Providers that failed or were passed over before","items":{"type":"object","properties":{
"provider":{"type":"string"},"class":{"type":"string"},"reason":{"type":"string"},"next":{"type":"string"},"skipped":{"type":"boolean"},"retryAfterSeconds":{"type":"integer"}},
"required":["provider","class","reason"]}}`

const textList = `{"type":"array","items":{"type":"string"}}`

const searchOutput = `{"type":"object","properties":{
"provider":{"type":"string"},
"results":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},"url":{"type":"string"},"snippet":{"type":"string"},"published":{"type":"string"},"score":{"type":"number"}},"required":["title","url"]}},
"ignored":` + textList + `,"notes":` + textList + `,"failures":` + attemptsOutput + `},
"required":["provider","results"]}`

const extractOutput = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{
"url":{"type":"string"},"status":{"type":"string","enum":["ok","partial","failed"]},"finalUrl":{"type":"string"},"title":{"type":"string"},"byline":{"type":"string"},"site":{"type":"string"},
"description":{"type":"string"},"published":{"type":"string"},"lang":{"type":"string"},"contentType":{"type":"string"},"provider":{"type":"string"},"rendered":{"type":"boolean"},
"truncated":{"type":"boolean"},"cursor":{"type":"string"},"totalTokens":{"type":"integer"},"credits":{"type":"number"},"warnings":` + textList + `,"failures":` + attemptsOutput + `,"error":{"type":"string"}},
"required":["url","status","truncated","totalTokens"]}}},
"required":["results"]}`

const crawlOutput = `{"type":"object","properties":{
"provider":{"type":"string"},
"pages":{"type":"array","items":{"type":"object","properties":{"url":{"type":"string"},"finalUrl":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"depth":{"type":"integer"},
"contentType":{"type":"string"},"tokens":{"type":"integer"},"error":{"type":"string"}},"required":["url","depth"]}},
"read":{"type":"integer"},"failed":{"type":"integer"},"skipped":{"type":"integer"},"stopped":{"type":"string"},"credits":{"type":"number"},"truncated":{"type":"boolean"},
"cursor":{"type":"string"},"next":{"type":"string"},"warnings":` + textList + `,"failures":` + attemptsOutput + `},
"required":["read","failed","truncated"]}`

const sitemapOutput = `{"type":"object","properties":{
"provider":{"type":"string"},"source":{"type":"string"},
"entries":{"type":"array","items":{"type":"object","properties":{"url":{"type":"string"},"title":{"type":"string"},"modified":{"type":"string"},"foreign":{"type":"boolean"}},"required":["url"]}},
"total":{"type":"integer"},"next":{"type":"string"},"warnings":` + textList + `,"failures":` + attemptsOutput + `},
"required":["provider","source","entries"]}`

const screenshotOutput = `{"type":"object","properties":{
"url":{"type":"string"},"finalUrl":{"type":"string"},"title":{"type":"string"},"width":{"type":"integer"},"height":{"type":"integer"},"mimeType":{"type":"string"},"bytes":{"type":"integer"},
"provider":{"type":"string"},"warnings":` + textList + `,"failures":` + attemptsOutput + `},
"required":["url","width","height","mimeType","bytes","provider"]}`
