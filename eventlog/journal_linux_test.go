package eventlog

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed7221b0f9/parley/internal/test/smalldisk"
)

// TestJournal_full checks that a removal that a full disk does not record is not in the state, that later ones are read, and that the
// journal begins on a full disk with what it has.
func TestJournal_full(t *testing.T) {
	disk := smalldisk.Mount(t, 1)
	d := &dataDir{path: string(disk)}
	epoch := [8]byte{7}
	j := &journal{}
	if err := j.begin(d, &checkpoint{Lasts: map[string]uint64{"kept": 4, "gone": 6}, Purged: map[string]uint64{}}); err != nil {
		t.Fatal(err)
	}
	next := func() *checkpoint { // of the next Open, after a kill
		t.Helper()
		c, err := readBase(filepath.Join(d.path, baseName))
		if err == nil {
			err = d.readJournal(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	same := func(when string, want *checkpoint) {
		t.Helper()
		if diff := cmp.Diff(want, next(), cmpopts.IgnoreUnexported(checkpoint{})); diff != "" {
			t.Errorf("%s the next Open reads (-want +got):\n%s", when, diff)
		}
	}

	j.acked("kept", 4) // the file has a block
	free := disk.Fill(t)
	full := false
	for i := 0; i < 10_000 && !full; i++ { // until its end
		full = j.purging(fmt.Sprint("s", i), epoch, 3) != nil
	}
	if !full {
		t.Fatal("the journal has grown on a full disk")
	}
	if err := j.purging("kept", epoch, everything); err == nil || j.last("kept") != 4 {
		t.Errorf("a removal that is not recorded returns %v, and the newest event is %d; want an error and 4", err, j.last("kept"))
	}
	same("on a full disk", j.checkpoint())
	second := &journal{}
	if err := second.begin(d, next()); err != nil {
		t.Fatalf("on a full disk the journal does not begin: %v", err)
	}
	defer second.file.Close()
	free()

	if err := j.purging("gone", epoch, everything); err != nil {
		t.Fatal(err)
	}
	same("with room again", j.checkpoint())
	if err := j.file.Close(); err != nil {
		t.Error(err)
	}
	second.lasts, second.purged = j.lasts, j.purged
	if second.acked("kept", 5); second.late || second.size != 0 {
		t.Errorf("with room the base is not written: late %v, %d bytes in the file", second.late, second.size)
	}
	same("with a new base", second.checkpoint())
}
