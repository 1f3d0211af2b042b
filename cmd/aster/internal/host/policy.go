package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// Files of a session below the user's directory.
const (
	auditFile = "audit.jsonl"
	pinsFile  = "pins.json"
)

// ErrNoAuditFile is the error of a session that has to keep a record and has no place
// for it.
var ErrNoAuditFile = errors.New("there is no directory for the record of calls: set ASTER_HOME or HOME, or mcp.audit.enabled: false")

// AuditPath is the file that the configuration names for the record of calls, "" where
// there is no place for it.
func AuditPath(c *config.Config, stateDir string) string {
	if c.Audit.File != "" {
		return c.Audit.File
	}
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, auditFile)
}

// PinsPath is the file of approved definitions, "" where there is no place for it.
func PinsPath(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, pinsFile)
}

// parts are a guard and what it is made of.
type parts struct {
	guard *guard.Guard
	audit *guard.Log // nil where no record is kept
	pins  *guard.Pins
}

// newGuard makes the guard that the configuration and the flags ask for.
func newGuard(o *SessionOptions, redactor *guard.Redactor) (p parts, err error) {
	c := o.Config
	policy, err := newPolicy(c, o.Approve, o.ReadOnly)
	if err != nil {
		return p, err
	}
	var auditor guard.Auditor
	if auditor, p.audit, err = newAuditor(c, o.StateDir); err != nil {
		return p, err
	}
	if p.pins, err = guard.OpenPins(PinsPath(o.StateDir), nil); err != nil {
		return p, err
	}
	userFile := ""
	if o.StateDir != "" {
		userFile = filepath.Join(o.StateDir, config.UserFile)
	}
	kept := c.Audit.MaxArgumentBytes
	if kept == 0 {
		kept = -1
	}
	p.guard, err = guard.New(&guard.Options{
		Policy: policy, Auditor: auditor, Approver: o.Approver, Pins: p.pins, Redactor: redactor,
		Always: rememberAlways(userFile), ArgumentBytes: kept, Logger: o.Logger,
	})
	return p, err
}

// newAuditor opens the record of calls, or says why there is none.
func newAuditor(c *config.Config, stateDir string) (guard.Auditor, *guard.Log, error) {
	if !c.Audit.Enabled {
		return guard.NoAudit, nil, nil
	}
	path := AuditPath(c, stateDir)
	if path == "" {
		return nil, nil, ErrNoAuditFile
	}
	keep := c.Audit.Keep
	if keep == 0 {
		keep = -1 // in the configuration none, in the guard the default
	}
	log := guard.NewLog(path, &guard.LogOptions{MaxBytes: c.Audit.MaxBytes, Keep: keep})
	return log, log, nil
}

// newPolicy turns the configured policy into the guard's. Flags count more than files,
// but read-only, once said, holds.
func newPolicy(c *config.Config, mode guard.Mode, readOnly bool) (*guard.Policy, error) {
	o := &guard.PolicyOptions{ReadOnly: c.Policy.ReadOnly || readOnly, Mode: guard.Mode(c.Policy.Approve)}
	if mode != guard.ModeAuto {
		o.Mode = mode
	}
	for i := range c.Policy.Rules {
		r, err := guardRule(&c.Policy.Rules[i])
		if err != nil {
			return nil, err
		}
		o.Rules = append(o.Rules, r)
	}
	return guard.NewPolicy(o)
}

func guardRule(r *config.Rule) (guard.Rule, error) {
	out := guard.Rule{Origins: r.Origins, Args: r.Args, Definition: r.Definition, Reason: r.Reason, Place: r.Place.String()}
	switch r.Decision {
	case config.Allow:
		out.Action = guard.Allow
	case config.Ask:
		out.Action = guard.Ask
	case config.Deny:
		out.Action = guard.Deny
	default:
		return out, fmt.Errorf("%s: rule with the decision %q", r.Place, r.Decision)
	}
	for _, p := range r.Tools {
		out.Tools = append(out.Tools, p.Text)
	}
	return out, nil
}

// RuleOf is the rule of the guard as the configuration writes it.
func RuleOf(r *guard.Rule) (*config.Rule, error) {
	out := &config.Rule{Origins: r.Origins, Args: r.Args, Definition: r.Definition, Reason: r.Reason, Decision: config.Decision(r.Action.String())}
	for _, text := range r.Tools {
		p, err := config.NewPattern(text, config.Place{})
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, p)
	}
	return out, nil
}

// rememberAlways writes what the user answered "always" to into the user's file.
func rememberAlways(path string) func(context.Context, guard.Rule) error {
	if path == "" {
		return nil
	}
	return func(_ context.Context, r guard.Rule) error {
		rule, err := RuleOf(&r)
		if err != nil {
			return err
		}
		doc, err := config.OpenDocument(path, config.ScopeGlobal)
		if err != nil {
			return err
		}
		if err := doc.AddRule(rule); err != nil {
			return err
		}
		return doc.Save()
	}
}
