// Package sitemap reads the files that list a site's addresses.
//
// [Read] takes one file: a urlset or a sitemapindex of the sitemaps protocol, RSS, RDF, Atom or JSON Feed, or plain
// text with an address a line, and hands each [Entry] to a function, in the file's order. [Unpack] opens gzip
// first. Fetching, and following an index, are the caller's work.
//
// Files are hostile input: bytes, entries, nesting and the length of a tag are bounded, nothing panics, and a file
// that breaks off keeps what was read before. All functions are safe for concurrent use.
package sitemap
