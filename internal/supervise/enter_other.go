//go:build !linux

package supervise

// Self returns "": there is no supervisor on this system.
func Self() string { return "" }

// Enter has no effect: there is no supervisor on this system.
func Enter() {}

// Shrink has no effect on this system.
func Shrink() {}
