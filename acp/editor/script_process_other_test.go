//go:build !linux

package editor_test

import (
	"context"
	"errors"
)

// process is a process as the system knows it.
type process struct{}

// errSystem is why a script cannot be run.
var errSystem = errors.New("processes are listed on Linux only")

func descendants(int) []process { return nil }

func gone(context.Context, []process) error { return nil }

func (r *Run) kill(context.Context) error { return errSystem }

func (r *Run) killChildren() error { return errSystem }
