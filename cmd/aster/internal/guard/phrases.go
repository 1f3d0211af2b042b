package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// phrases are what poisoned definitions say and plain ones seldom do. They only warn: a
// tool that speaks of such things may have a reason.
var phrases = []struct {
	about string
	// need are words in small letters of which each group has one in every match: most
	// text lacks them, and looking for them is a hundred times quicker than matching.
	need [][]string
	re   *pattern
}{
	{"tells the model to set its instructions aside", [][]string{{"ignore", "disregard", "forget", "override"}, {"instruction", "prompt", "rule", "message", "tool"}}, lazy(`(?i)\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|earlier|above|other|system)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules?|messages?|tools?)`)},
	{"tells the model to hide something from the user", [][]string{{"not", "n't", "never", "without"}, {"tell", "mention", "inform", "notify", "show", "reveal", "alert", "ask"}, {"user"}}, lazy(`(?i)\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|show(?:ing)?|reveal(?:ing)?|alert(?:ing)?|ask(?:ing)?)\s+(?:\w+\s+){0,4}(?:the\s+)?user\b`)},
	{"poses as instructions of the system", [][]string{{"<", "["}, {">", "]"}, {"important", "system", "instruction", "assistant", "secret", "critical", "inst", "im_start"}}, lazy(`(?i)<\s*/?\s*(?:important|system|instructions?|assistant|secret|critical)\s*>|\[\s*(?:system|inst)\s*\]|<\|im_start\|>`)},
	{"wants files with secrets read", [][]string{{"/.", "id_", "/etc/", ".cursor"}}, lazy(`(?i)(?:~|\$HOME|/home/\w+|/root|/Users/\w+)/\.(?:ssh|aws|gnupg|kube|netrc|npmrc|docker|config/gcloud)\b|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow)\b|\.cursor/mcp\.json`)},
	{"wants to come before other tools", [][]string{{"before", "instead", "must"}, {"other", "first", "before"}}, lazy(`(?i)\b(?:before|instead\s+of)\s+(?:using|calling|invoking|running)\s+(?:any|all|every|the)\s+other\s+tools?\b|\bmust\s+(?:always\s+)?(?:be\s+)?(?:call(?:ed)?|use(?:d)?|invoke(?:d)?)\s+(?:this\s+tool\s+)?(?:first|before\s+(?:any|every|all))`)},
	{"wants the conversation passed on", [][]string{{"entire", "full", "whole", "complete", "all"}, {"conversation", "history", "prompt", "window"}}, lazy(`(?i)\b(?:include|pass|send|append|provide|attach|forward)\s+(?:\w+\s+){0,4}(?:entire|full|whole|complete|all(?:\s+of)?)\s+(?:\w+\s+){0,3}(?:conversation|chat\s+history|message\s+history|system\s+prompt|context\s+window)\b`)},
}

func phraseWarnings(field, text string) (out []Warning) {
	small := strings.ReplaceAll(strings.ToLower(text), "ſ", "s") // which the patterns fold as well
	for _, p := range phrases {
		if !hasEach(small, p.need) {
			continue
		}
		if at := p.re.get().FindStringIndex(text); at != nil {
			out = append(out, Warning{Check: "phrase", Field: field,
				Text: fmt.Sprintf("%s %s: %q", field, p.about, Clean(text[at[0]:at[1]], maxShownName))})
		}
	}
	return out
}

// hasEach reports whether s holds a word of each group.
func hasEach(s string, groups [][]string) bool {
	for _, words := range groups {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) }) {
			return false
		}
	}
	return true
}

// A pattern is a regular expression that is compiled when it is first needed, since a
// start of the program seldom needs any.
type pattern struct{ get func() *regexp.Regexp }

func lazy(expr string) *pattern {
	return &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// secretWarnings names the kind of a secret in a definition, never the secret.
func secretWarnings(field, text string) []Warning {
	kind := findSecret(text)
	if kind == "" {
		return nil
	}
	return []Warning{{Check: "secret", Field: field, Text: fmt.Sprintf("%s seems to hold a secret (%s)", field, kind)}}
}
