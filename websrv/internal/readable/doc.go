// Package readable turns an HTML page into readable Markdown.
//
// [Extract] parses a page once, cuts it into blocks (runs of text between block-level
// boundaries), and keeps the blocks that belong to what the page is about. Each block is
// described by counts and shares: its tag path, its length, how much of it is link text, what
// readability v2 kept of it, how often its path repeats, whether the page's structured data
// repeats it. A small table of boosted trees, fitted by the train command on labelled pages and
// embedded here as a data file, decides. No rule is about one site, and no word of a labelled
// page is in the table.
//
// What is kept is rendered twice: as text, and as Markdown by html-to-markdown v2 with absolute
// links. Metadata comes from meta elements and JSON-LD; a page whose text is only in its data
// (JSON-LD articleBody, __NEXT_DATA__) is read from there.
//
// Pages are hostile input. Everything is bounded by the constants of this package, broken markup
// is never an error, and the same bytes give the same Document. All functions are safe for
// concurrent use; none keeps state between calls but the table, which is read on first use.
package readable
