package shortcuts

// NewRunner returns the runner of this Mac.
func NewRunner() (Runner, error) {
	return NewProgramRunner(Programs{Osascript: "/usr/bin/osascript", Shortcuts: "/usr/bin/shortcuts", Sips: "/usr/bin/sips"}), nil
}
