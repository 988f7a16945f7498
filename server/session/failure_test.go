package session

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestFailureOf_full checks that a full disk is not an internal error, for any file, and that its
// text has no path of the server.
func TestFailureOf_full(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		f := FailureOf(fmt.Errorf("server: %w", &fs.PathError{Op: "write", Path: "/data/server/tokens.json", Err: err}))
		if f.Reason != api.LimitReached || !strings.Contains(f.Message, "full") || strings.Contains(f.Message, "/data") {
			t.Errorf("%v: %+v; want f.Reason == api.LimitReached and strings.Contains(f.Message, \"full\") and not strings.Contains(f.Message, \"/data\")", err, f)
		}
	}
}
