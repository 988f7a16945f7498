package regularfile_test

import (
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// A file that is opened for the check and is not a regular file is closed again.
func TestRefusedIsClosed(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	for range 100 {
		if f, err := regularfile.Open(os.DevNull); err == nil {
			t.Fatal("a device was opened: ", f.Close())
		}
	}
	if after := count(); after > before+50 {
		t.Errorf("%d descriptors were open before, %d after", before, after)
	}
}
