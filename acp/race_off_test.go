//go:build !race

package acp_test

const raceEnabled = false
