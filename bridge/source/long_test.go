//go:build !race

package source_test

import (
	"strings"
	"testing"
)

// TestLongAnswersNotTaken is the part of TestAnswersNotTaken that moves some hundred
// megabytes, which the race detector makes slow.
func TestLongAnswersNotTaken(t *testing.T) {
	answersNotTaken(t, func(name string) bool { return strings.HasPrefix(name, "long") })
}
