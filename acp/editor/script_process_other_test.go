//go:build !linux

package editor_test

import (
	"context"
	"errors"
)

// process identifies a process of the system.
type process struct{}

// errSystem is the reason why scripts cannot run on this system.
var errSystem = errors.New("processes are listed on Linux only")

func descendants(int) []process { return nil }

func awaitExits(context.Context, []process) error { return nil }

func (r *Run) kill(context.Context) error { return errSystem }

func (r *Run) killChildren() error { return errSystem }
