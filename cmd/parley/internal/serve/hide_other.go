//go:build !linux

package serve

// hideProcess has no effect: other systems have no such switch, or expose less.
func hideProcess() error { return nil }
