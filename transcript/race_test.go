//go:build race

package transcript

// raceDetector reports whether the tests run with the race detector.
const raceDetector = true
