//go:build !darwin

package shortcuts

// NewRunner returns [ErrNotMac].
func NewRunner() (Runner, error) { return nil, ErrNotMac }
