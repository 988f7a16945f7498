//go:build race

package claudeevent_test

// raceDetector reports whether the tests run with the race detector.
const raceDetector = true
