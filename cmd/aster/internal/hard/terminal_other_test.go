//go:build unix && !linux

package hard_test

// terminal runs aster with pipes where this suite can make no terminal.
func (a *arena) terminal(env []string, answer string, args ...string) string {
	a.Helper()
	p := a.start(env, args...)
	p.stdin.Write([]byte(answer + "\n"))
	p.stdin.Close()
	out := a.output(p)
	return out + p.stderr.String()
}
