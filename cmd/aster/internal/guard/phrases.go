package guard

import (
	"fmt"
	"regexp"
)

// phrases are what poisoned definitions say and plain ones seldom do. They only warn: a
// tool that speaks of such things may have a reason.
var phrases = []struct {
	about string
	re    *regexp.Regexp
}{
	{"tells the model to set its instructions aside", regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|earlier|above|other|system)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules?|messages?|tools?)`)},
	{"tells the model to hide something from the user", regexp.MustCompile(`(?i)\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|show(?:ing)?|reveal(?:ing)?|alert(?:ing)?|ask(?:ing)?)\s+(?:\w+\s+){0,4}(?:the\s+)?user\b`)},
	{"poses as instructions of the system", regexp.MustCompile(`(?i)<\s*/?\s*(?:important|system|instructions?|assistant|secret|critical)\s*>|\[\s*(?:system|inst)\s*\]|<\|im_start\|>`)},
	{"wants files with secrets read", regexp.MustCompile(`(?i)(?:~|\$HOME|/home/\w+|/root|/Users/\w+)/\.(?:ssh|aws|gnupg|kube|netrc|npmrc|docker|config/gcloud)\b|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow)\b|\.cursor/mcp\.json`)},
	{"wants to come before other tools", regexp.MustCompile(`(?i)\b(?:before|instead\s+of)\s+(?:using|calling|invoking|running)\s+(?:any|all|every|the)\s+other\s+tools?\b|\bmust\s+(?:always\s+)?(?:be\s+)?(?:call(?:ed)?|use(?:d)?|invoke(?:d)?)\s+(?:this\s+tool\s+)?(?:first|before\s+(?:any|every|all))`)},
	{"wants the conversation passed on", regexp.MustCompile(`(?i)\b(?:include|pass|send|append|provide|attach|forward)\s+(?:\w+\s+){0,4}(?:entire|full|whole|complete|all(?:\s+of)?)\s+(?:\w+\s+){0,3}(?:conversation|chat\s+history|message\s+history|system\s+prompt|context\s+window)\b`)},
}

func phraseWarnings(field, text string) (out []Warning) {
	for _, p := range phrases {
		if at := p.re.FindStringIndex(text); at != nil {
			out = append(out, Warning{Check: "phrase", Field: field,
				Text: fmt.Sprintf("%s %s: %q", field, p.about, Clean(text[at[0]:at[1]], maxShownName))})
		}
	}
	return out
}

// secretWarnings names the kind of a secret in a definition, never the secret.
func secretWarnings(field, text string) []Warning {
	kind := findSecret(text)
	if kind == "" {
		return nil
	}
	return []Warning{{Check: "secret", Field: field, Text: fmt.Sprintf("%s seems to hold a secret (%s)", field, kind)}}
}
