//go:build !linux

package proc

import "github.com/seed7221b0f9/parley/spawn"

// describe returns the record of a process. Its start is not known here.
func describe(pid int, path string) Child { return Child{PID: pid, Path: path} }

// groupOf returns "": there are no control groups.
func groupOf(spawn.Process) string { return "" }

// endOwned ends no process: without its start time a process cannot be distinguished from a
// later one.
func endOwned(string, []Child) ([]Child, error) { return nil, nil }
