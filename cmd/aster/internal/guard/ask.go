package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aster-mcp/aster/bridge"
)

func (g *Guard) question(req *Request, args map[string]any, raw json.RawMessage, d Decision, key grantKey) Question {
	shown, _ := g.o.Redactor.Value(args).(map[string]any)
	q := Question{
		ID: req.ID(), Class: req.Class, Origin: req.Origin, Client: req.Client, Arguments: shown,
		Reason: d.Reason, Warnings: scanDefinition(definitionOf(req.Tool)), Choices: []Answer{AnswerOnce, AnswerSession},
	}
	// A rule that says ask would win over the rule that "always" writes.
	if g.o.Always != nil && d.By != "rule" {
		q.Choices = append(q.Choices, AnswerAlways)
	}
	q.binding = binding(key, raw)
	return q
}

// binding names one call: what tool of which definition and origin, with which arguments.
// The session is not part of it: a client without one sends each round in another, and
// the state that holds the binding is known to that client only.
func binding(key grantKey, raw json.RawMessage) string {
	h := sha256.New()
	for _, part := range []string{string(key.id), key.class.String(), key.identity, key.origin, key.definition, string(raw)} {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ask gets the user's answer and remembers it where it says so. Whatever else happens
// the grant is recorded here only, after the answer that counts.
func (g *Guard) ask(ctx context.Context, req *Request, d Decision, q Question, key grantKey, e *Entry) (Decision, error) {
	approver := req.Approver
	if approver == nil {
		approver = g.o.Approver
	}
	if approver == nil {
		return noWay(d, ErrNoWayToAsk)
	}
	actx, cancel := context.WithTimeout(ctx, g.o.AskTimeout)
	defer cancel()
	answer, err := approver.Approve(actx, q)
	e.Asked = err == nil || !errors.Is(err, ErrNoWayToAsk)
	var input *InputRequired
	switch {
	case errors.As(err, &input):
		return d, err
	case ctx.Err() != nil:
		return Decision{By: "user", Reason: "the call was cancelled while the user was asked"}, ctx.Err()
	case err != nil && actx.Err() != nil:
		return Decision{By: "user", Reason: fmt.Sprintf("the user did not answer within %s", g.o.AskTimeout)}, nil
	case err != nil:
		return noWay(d, err)
	}
	e.Answer = answer.String()
	if answer == AnswerNo || !q.Offers(answer) {
		return Decision{By: "user", Reason: "the user refused it"}, nil
	}
	if err := g.unchanged(ctx, req, key); err != nil {
		return Decision{By: "definition", Reason: "the tool, or the page that offers it, changed while the user was asked"}, err
	}
	g.remember(ctx, req, answer, key)
	return Decision{Action: Allow, By: "user", Reason: "the user allowed it (" + answer.String() + ")"}, nil
}

func noWay(d Decision, err error) (Decision, error) {
	d.Action = Deny
	reason := "it needs the user's approval, and "
	if errors.Is(err, ErrNoWayToAsk) {
		reason += strings.TrimPrefix(Clean(err.Error(), maxShownText), "the user's approval: ")
	} else {
		reason += "asking went wrong: " + Clean(err.Error(), maxShownText)
	}
	return Decision{By: d.By, Rule: d.Rule, Reason: reason}, err
}

// unchanged checks that the tool is still what the user was asked about.
func (g *Guard) unchanged(ctx context.Context, req *Request, key grantKey) error {
	if _, err := g.pinned(req); err != nil {
		return err
	}
	if req.Present == nil {
		return nil
	}
	tool, origin, err := req.Present(ctx)
	if err != nil {
		return fmt.Errorf("%w: %v", bridge.ErrToolChanged, err)
	}
	now := Request{Tool: tool, Class: req.Class, Identity: req.Identity, Origin: origin}
	if newGrantKey(&now, req.Session) != key {
		return bridge.ErrToolChanged
	}
	return nil
}

func (g *Guard) remember(ctx context.Context, req *Request, answer Answer, key grantKey) {
	if answer == AnswerSession {
		g.grants.add(key)
	}
	if answer != AnswerAlways {
		return
	}
	every := key
	every.session = everySession
	g.grants.add(every)
	rule := Rule{Action: Allow, Tools: []string{literalGlob(req.Tool.Server) + "/" + literalGlob(req.Tool.Name)}, Reason: "the user answered always"}
	if req.Class == ClassPage {
		rule.Origins, rule.Definition = []string{literalGlob(req.Origin)}, key.definition
	}
	if err := g.o.Always(ctx, rule); err != nil {
		g.o.Logger.ErrorContext(ctx, "the rule could not be written; the answer holds until aster ends", "tool", Clean(string(key.id), maxShownName), "err", g.o.Redactor.String(err.Error()))
	}
}

// literalGlob is a pattern that matches s alone.
func literalGlob(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\,`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
