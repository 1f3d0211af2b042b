package argcheck

import (
	"fmt"
	"time"
)

// Bounds on a schema. One that exceeds a bound is not checked against.
const (
	// MaxSchemaBytes is the length of the longest schema that is compiled.
	MaxSchemaBytes = 64 << 10

	// MaxSchemaDepth is how deep the arrays and objects of a schema may nest.
	MaxSchemaDepth = 64

	// MaxSubschemas is the number of objects in a schema, less those that only
	// hold other schemas by name, such as the value of "properties".
	MaxSubschemas = 2000

	// MaxComposition is how often one value may have to be looked at because
	// of allOf, anyOf, oneOf, not, if and references: the product, not the sum,
	// of what they say. 26 levels of anyOf with two references each make 2^27.
	MaxComposition = 20_000

	// maxPointerBytes bounds the sum of the lengths of the JSON pointers to all
	// subschemas, which the compiler keeps and compares.
	maxPointerBytes = 1 << 20

	// maxStrayObjects bounds what stands behind references to places that hold
	// no schema by the draft's keywords: the compiler validates each of those
	// places by itself, nested ones again and again.
	maxStrayObjects = 2 * MaxSubschemas
)

// Bounds on arguments and on the work of one check. Beyond them a check ends
// with an [UnsupportedError].
const (
	// MaxArgumentBytes is the length of the longest arguments that are checked.
	MaxArgumentBytes = 16 << 20

	// MaxArgumentDepth is how deep arguments may nest: as deep as the MCP
	// transport lets them.
	MaxArgumentDepth = 1000

	// MaxArgumentValues is how many values the arguments may consist of.
	MaxArgumentValues = 1_000_000

	// MaxSteps is the number of steps of one check, a step being one value held
	// against one subschema or one comparison: a third of a second or so.
	MaxSteps = 4_000_000

	// MaxCheckTime bounds the time of one check that matches patterns.
	MaxCheckTime = time.Second

	// maxPatternTime bounds one try of one match of one pattern. The regular
	// expression engine looks at its clock every 100 ms.
	maxPatternTime = 200 * time.Millisecond

	// patternTries is how often a match is tried that ran out of time: the clock
	// goes on while a busy machine lets this process wait.
	patternTries = 2

	// maxPatternText is the length of the longest string that is matched.
	maxPatternText = 1 << 20

	// maxEvalDepth bounds the recursion of the evaluator: arguments' depth
	// times the length of the chain of references at each level.
	maxEvalDepth = 20_000

	// maxNumberLength and maxExponent bound a number as it is written. Doubles,
	// which is all a page can hold, need 25 characters and an exponent of 324.
	maxNumberLength = 1000
	maxExponent     = 400
)

// Bounds on what a [Mismatch] says.
const (
	// MaxPlaces is how many places a mismatch names.
	MaxPlaces = 8

	// maxKept is how many problems are collected for one alternative before
	// the rest is only counted.
	maxKept = 32

	// maxProblems bounds the problems of all alternatives together.
	maxProblems = 10_000

	// maxValueRunes cuts a value or a pattern that is quoted.
	maxValueRunes = 60

	// maxListed is how many names or alternatives are listed.
	maxListed = 12

	// maxPathRunes cuts a path.
	maxPathRunes = 160

	// maxReasonRunes cuts the reason of an [UnsupportedError].
	maxReasonRunes = 300
)

// An UnsupportedError says that arguments cannot be checked against a schema,
// because the schema cannot be compiled or the check would cost too much. It
// says nothing of whether the arguments fit.
type UnsupportedError struct {
	// Reason is the cause in plain words, a clause without a full stop. It may
	// quote the schema, cut and without control characters.
	Reason string
}

// Error is the reason behind "arguments not checked: ".
func (e *UnsupportedError) Error() string { return "arguments not checked: " + e.Reason }

func unsupported(format string, args ...any) *UnsupportedError {
	return &UnsupportedError{Reason: clip(fmt.Sprintf(format, args...), maxReasonRunes)}
}
