package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
)

// An Absence says that a tool cannot be used because its server is not connected: why, and
// what to do next. Its text is one clean line.
type Absence struct {
	Server string
	Tool   string // as it was named
	Why    string // a stranger's words in part
	Next   string

	source *source.Source // nil where the server could not be tried
}

// Error is fit for the model and for the user.
func (a *Absence) Error() string {
	return fmt.Sprintf("%s cannot be used: the server %s is not connected (%s). %s", a.Tool, a.Server, a.Why, a.Next)
}

// Absent says why a tool is not there: its name, in any spelling that a catalogue takes,
// begins with that of a server of the session that is not connected. Nil is no reason.
func (s *Session) Absent(name string) *Absence {
	name = strings.Trim(strings.TrimSpace(name), "\"`'")
	var found *Absence
	note := func(server string, src *source.Source, why, next string) {
		if found == nil || len(server) > len(found.Server) {
			found = &Absence{Server: CleanText(server), Tool: CleanText(name), Why: CleanText(why), Next: next, source: src}
		}
	}
	for _, src := range s.set.Sources() {
		if !namesServer(name, src.Name()) {
			continue
		}
		if st := src.Status(); st.State != source.Connected {
			note(src.Name(), src, st.String(), nextStep(&st, src))
		}
	}
	for _, p := range s.problems {
		if namesServer(name, p.Server) {
			note(p.Server, nil, p.Text, fmt.Sprintf("The user can put that right: 'aster mcp doctor %s'", CleanText(p.Server)))
		}
	}
	return found
}

// namesServer reports whether a tool's name begins with the server's.
func namesServer(name, server string) bool {
	rest, ok := strings.CutPrefix(name, server)
	return ok && slices.ContainsFunc([]string{"/", "__", ":"}, func(sep string) bool { return strings.HasPrefix(rest, sep) })
}

// nextStep is what a user, or a model, can do about a server that is not connected.
func nextStep(st *source.Status, src *source.Source) string {
	name := CleanText(src.Name())
	switch {
	case st.Failure == nil:
		return "It is being started: try again in a few seconds"
	case errors.Is(st.Failure, source.ErrNeedsSignIn) && src.Spec().URL != "":
		return fmt.Sprintf("The user can sign in with 'aster mcp login %s'; then try again", name)
	case errors.Is(st.Failure, source.ErrNeedsSignIn):
		return "The user has to sign in there; then try again"
	}
	return fmt.Sprintf("'aster mcp doctor %s' tells the user more; then try again", name)
}

// revive waits for the server of an absence where it is being started, which has its own
// limit, and starts it again, and waits a little, where its time has come. It reports
// whether the server is there now.
func (s *Session) revive(ctx context.Context, a *Absence) bool {
	if a.source == nil {
		return false
	}
	switch st := a.source.Status(); {
	case st.State == source.Starting:
	case st.State != source.Failed || time.Now().Before(st.RetryAt):
		return false
	default:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, StartWait)
		defer cancel()
	}
	if a.source.Start(ctx) != nil {
		return false
	}
	s.mark()
	return true
}

// mind tells of servers that are not connected where a reply of the bridge could only say
// that there is no such tool, or name another server's. A server that is being started is
// waited for, one whose time has come is started again, and then the call is made anew.
func (g *Gateway) mind(ctx context.Context, reply bridge.Reply, arguments json.RawMessage, again func() bridge.Reply) bridge.Reply {
	switch a := reply.Action.(type) {
	case nil:
		for _, name := range namesIn(arguments) {
			absence := g.s.Absent(name)
			if absence == nil {
				continue
			}
			if again != nil && g.s.revive(ctx, absence) {
				return g.anew(ctx, arguments, again)
			}
			if now := g.s.Absent(name); now != nil {
				absence = now
			}
			reply.Text = absence.Error()
			return reply
		}
	case bridge.Describe:
		revived := false
		for _, m := range a.Missing {
			absence := g.s.Absent(m.Given)
			revived = absence != nil && again != nil && g.s.revive(ctx, absence) || revived
		}
		if revived {
			return g.anew(ctx, arguments, again)
		}
		for _, m := range a.Missing {
			if absence := g.s.Absent(m.Given); absence != nil {
				reply.Text = strings.ReplaceAll(reply.Text, m.Error(), absence.Error())
			}
		}
	}
	return reply
}

// mindNames is mind for tools that are called under names of their own.
func (g *Gateway) mindNames(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		name := toolName(req)
		if method != methodCallTool || name == g.bridge || g.serves(name) {
			return next(ctx, method, req)
		}
		if absence := g.absent(name); absence != nil {
			if !g.s.revive(ctx, absence) {
				if now := g.absent(name); now != nil {
					absence = now
				}
				return failed(absence.Error()), nil
			}
			g.follow(nil)
		}
		return next(ctx, method, req)
	}
}

func (g *Gateway) serves(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.served[name]
	return ok
}

// absent is the absence of a tool by its wire name.
func (g *Gateway) absent(name string) *Absence {
	if !g.own {
		return g.s.Absent(name)
	}
	for _, sv := range g.s.Servers() { // the one
		return g.s.Absent(string(bridge.NewToolID(sv.Name, name)))
	}
	return nil
}

// anew makes a call again over the catalogue of now.
func (g *Gateway) anew(ctx context.Context, arguments json.RawMessage, again func() bridge.Reply) bridge.Reply {
	g.follow(nil)
	return g.mind(ctx, again(), arguments, nil)
}

// namesIn are the tools that a call of aster_mcp names.
func namesIn(arguments json.RawMessage) []string {
	var r struct {
		Name  string   `json:"name"`
		Names []string `json:"names"`
	}
	if json.Unmarshal(arguments, &r) != nil {
		return nil
	}
	if r.Name != "" {
		return []string{r.Name}
	}
	return r.Names[:min(len(r.Names), bridge.MaxDescribe)]
}
