package footprint

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const smaps = `00400000-01425000 r-xp 00000000 fe:00 77                                 /bin/parley
Size:              16532 kB
Anonymous:             0 kB
01425000-027f4000 r--p 01025000 fe:00 77                                 /bin/parley
Anonymous:             0 kB
027f4000-02895000 rw-p 023f4000 fe:00 77                                 /bin/parley
Anonymous:           388 kB
02900000-02a00000 r--p 023f4000 fe:00 77                                 /bin/parley
Anonymous:             4 kB
7f00a000-7f00b000 r-xp 00000000 fe:00 78                                 /lib/libc.so.6 (deleted)
Anonymous:             0 kB
7f00c000-7f00d000 r--p 00000000 fe:00 77                                 /bin/parley
VmFlags: rd mr mw me sd 
`

// TestClean drops the program's own pages only, and none that were written to or of which
// that is not known.
func TestClean(t *testing.T) {
	all := mappings(bufio.NewScanner(strings.NewReader(smaps)))
	if len(all) != 6 {
		t.Fatalf("%d mappings", len(all))
	}
	if some := clean(all, 0x400800); !slices.Equal(some, all[:2]) {
		t.Errorf("%v", some)
	}
	if some := clean(all, 0x100); some != nil {
		t.Errorf("for code that is in no mapping: %v", some)
	}
	if some := clean(mappings(bufio.NewScanner(strings.NewReader("x-y r-xp 0 fe:00 77 /bin/parley\nAnonymous: 0 kB\n"))), 0x400800); some != nil {
		t.Errorf("for a list that is not understood: %v", some)
	}
}

// held is memory that is free after it was used.
var held []byte

func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestTrim uses much memory, frees it and sees it given back.
func TestTrim(t *testing.T) {
	const size = 64 << 20
	held = make([]byte, size)
	for i := 0; i < len(held); i += 512 {
		held[i] = 1
	}
	before := resident(t)
	held = nil
	Trim()
	if after := resident(t); before-after < size/2 {
		t.Errorf("%d bytes resident before, %d after", before, after)
	}
	if got := strconv.Itoa(1 << 20); got != "1048576" { // the code is still there
		t.Error(got)
	}
}
