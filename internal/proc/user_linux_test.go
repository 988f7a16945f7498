package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

func TestUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may run a program as somebody else")
	}
	var attr syscall.SysProcAttr
	if err := runAs(&attr, "nobody"); err != nil || attr.Credential.Uid == 0 {
		t.Errorf("%+v, %v; want err == nil and attr.Credential.Uid != 0", attr.Credential, err)
	}
	_, err := Start(t.Context(), spawn.Command{Path: "/bin/sh", User: "no-such-user-here"}, Options{})
	if err == nil || !strings.Contains(err.Error(), "no-such-user-here") {
		t.Errorf("got %v", err)
	}
}
