// Package content turns the bytes of a web response that is not an HTML page into Markdown.
//
// [Sniff] says what the bytes are: by their first bytes, then by the declared media type, never by a
// file name. [Decode] brings text to UTF-8. [Markdown] converts what is not a page;
// HTML pages are the work of package readable.
//
// All input is hostile. Bytes, unpacked bytes, pages, nesting, output and time are bounded by [Limits];
// a file that passes a bound is refused with an error, or cut with a line in [Document].Notes that says so.
// No function panics on any input, none keeps state, and all are safe for concurrent use.
package content
