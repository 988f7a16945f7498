//go:build !linux

package supervise

// Self returns "": there is no supervisor on this system.
func Self() string { return "" }

// Enter does nothing: there is no supervisor on this system.
func Enter() {}

// Shrink does nothing: there is nothing to be small for.
func Shrink() {}
