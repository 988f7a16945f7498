package footprint

import (
	"bufio"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
)

// mapping is a range of the address space as /proc/self/smaps has it.
type mapping struct {
	from, to uintptr
	perms    string
	file     string // the device and the inode
	changed  bool   // it has pages that differ from those of the file
}

// dropProgram unmaps the pages of the program's file. Only ranges without a single page of
// their own are dropped: one that was written to, as those that the loader relocates or a
// debugger has breakpoints in, would be lost.
func dropProgram() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // it is a kindness
	}
	all := mappings(bufio.NewScanner(f))
	_ = f.Close() // it was read
	for _, m := range clean(all, reflect.ValueOf(dropProgram).Pointer()) {
		// An error leaves the pages where they are.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mappings reads a list of mappings.
func mappings(lines *bufio.Scanner) []mapping {
	var all []mapping
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 5 && !strings.HasSuffix(words[0], ":") {
			from, to, _ := strings.Cut(words[0], "-")
			low, err1 := strconv.ParseUint(from, 16, 64)
			high, err2 := strconv.ParseUint(to, 16, 64)
			if err1 != nil || err2 != nil {
				return nil // not as it is known
			}
			// Until the line that tells is read, it counts as changed.
			all = append(all, mapping{from: uintptr(low), to: uintptr(high), perms: words[1], file: words[3] + " " + words[4], changed: true})
		}
		if len(words) == 3 && words[0] == "Anonymous:" && len(all) > 0 {
			all[len(all)-1].changed = words[1] != "0"
		}
	}
	return all
}

// clean returns the mappings of the file that has the code at pc which are as in the file
// and cannot be written to.
func clean(all []mapping, pc uintptr) []mapping {
	var some []mapping
	file := ""
	for _, m := range all {
		if m.from <= pc && pc < m.to {
			file = m.file
		}
	}
	for _, m := range all {
		if file != "" && m.file == file && !m.changed && (m.perms == "r-xp" || m.perms == "r--p") {
			some = append(some, m)
		}
	}
	return some
}
