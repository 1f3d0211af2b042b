// Package argcheck checks arguments against a stranger's JSON schema within
// bounds.
//
// The schema may come from a web page or from a foreign server, and the
// arguments from a model; neither is trusted. [New] compiles a schema into a
// [Checker], or says in an [UnsupportedError] why arguments cannot be checked
// against it. [Checker.Check] says in a [Mismatch] where arguments do not fit,
// in words that a model can act on.
//
// It reads the drafts 4 to 2020-12 itself, in two passes: one finds the schemas and
// the resources of the document and holds each keyword against what its draft
// wants, the other follows the references and makes nodes for the evaluator. A
// library has no limit on time or memory: 26 levels of anyOf with two references
// each, or one recursive allOf over deeply nested arguments, keep it busy for
// hours, and numbers such as 1e999999999 make it panic. Here every step is
// counted, and the words of a mismatch come out in the same order each time. The
// tests hold it against santhosh-tekuri/jsonschema, another reading of the
// specification.
//
// Draft detection is by "$schema"; without it 2020-12 is meant. Nothing is
// loaded, neither from the network nor from files. Regular expressions are
// JavaScript's, with a time limit. "format", "contentEncoding" and
// "contentMediaType" are annotations and not asserted. "$dynamicRef" and
// "$recursiveRef" are followed where their target cannot depend on the caller,
// which is so for every schema without an inner "$id". A reference to the
// metaschema of a draft asks for an object or a boolean, no more.
package argcheck
