package postgres_test

import (
	"os"
	"syscall"
	"testing"
)

func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr { return nil }

func interrupt(p *os.Process) { _ = p.Kill() }
