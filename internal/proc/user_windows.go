package proc

import (
	"errors"
	"syscall"
)

func runAs(*syscall.SysProcAttr, string) error {
	return errors.New("running as another user is not possible on Windows")
}
