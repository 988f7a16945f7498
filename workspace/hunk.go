package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Hunk is a group of adjacent changed lines of a file, with up to three unchanged lines before and
// after them.
type Hunk struct {
	// ID stays the same as long as the hunk does. It depends on the path, the position in the base
	// and all lines, but not on earlier hunks of the file.
	ID       string
	OldStart int // counted from 1; if OldLines is 0, the line before
	OldLines int
	NewStart int
	NewLines int
	Section  string   // git's heading, usually the enclosing function
	Lines    []string // each begins with ' ', '-' or '+'; one with '\' follows a line without a line feed
}

// identify sets the id of a hunk.
func (h *Hunk) identify(path string) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s\n%d %d\n", len(path), path, h.OldStart, h.OldLines)
	for _, line := range h.Lines {
		fmt.Fprintf(sum, "%d %s\n", len(line), line)
	}
	h.ID = fmt.Sprintf("%d.%d.%s", h.OldStart, h.OldLines, hex.EncodeToString(sum.Sum(nil)[:8]))
}

// place returns the lines of the base for the id of a hunk.
func place(id string) (start, lines int, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return 0, 0, false
	}
	start, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0, false
	}
	lines, err = strconv.Atoi(parts[1])
	return start, lines, err == nil
}

// Near returns the hunks that overlap the position of the hunk with this id, in the lines of the
// base. It finds the current form of a changed hunk.
func Near(hunks []Hunk, id string) []Hunk {
	start, lines, ok := place(id)
	near := []Hunk{}
	for _, h := range hunks {
		if ok && h.OldStart <= start+max(lines, 1)-1 && start <= h.OldStart+max(h.OldLines, 1)-1 {
			near = append(near, h)
		}
	}
	return near
}

// Side is one side of a diff: the old text or the new one. See [Hunk.Code].
type Side string

// The sides of a diff: Old is the text before the change, New the text after it.
const (
	Old Side = "old"
	New Side = "new"
)

// Code returns the lines from first to last of one side of the hunk, counted from 1 in the file. It
// returns false if the hunk does not show all of them.
func (h Hunk) Code(side Side, first, last int) ([]string, bool) {
	n, other := h.NewStart, byte('-')
	if side == Old {
		n, other = h.OldStart, '+'
	}
	var code []string
	for _, line := range h.Lines {
		if line == "" || line[0] == other || line[0] == '\\' {
			continue
		}
		if n >= first && n <= last {
			code = append(code, line[1:])
		}
		n++
	}
	return code, first >= 1 && last >= first && len(code) == last-first+1
}

// Touches reports whether the hunk removes any of the lines from first to last of its old side, or
// adds lines between two of them. Lines are counted from 1 in the file.
func (h Hunk) Touches(first, last int) bool {
	n := h.OldStart // number of the next line of the old side
	if h.OldLines == 0 {
		n++
	}
	for _, line := range h.Lines {
		switch {
		case line == "" || line[0] == '\\':
		case line[0] == '-':
			if n >= first && n <= last {
				return true
			}
			n++
		case line[0] == '+':
			if n > first && n <= last {
				return true
			}
		default:
			n++
		}
	}
	return false
}

// without returns the new text of a file with a hunk reverted. It returns false if the text does
// not match the hunk.
func (h Hunk) without(text string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	at := h.NewStart - 1
	if h.NewLines == 0 {
		at = h.NewStart
	}
	if at < 0 || at+h.NewLines > len(lines) {
		return "", false
	}
	older, newer := h.sides()
	if len(newer) != h.NewLines || strings.Join(lines[at:at+h.NewLines], "") != strings.Join(newer, "") {
		return "", false
	}
	return strings.Join(lines[:at], "") + strings.Join(older, "") + strings.Join(lines[at+h.NewLines:], ""), true
}

// sides returns the lines of both sides with their line feeds.
func (h Hunk) sides() (older, newer []string) {
	for i, line := range h.Lines {
		if line == "" || line[0] == '\\' {
			continue
		}
		text := line[1:] + "\n"
		if i+1 < len(h.Lines) && strings.HasPrefix(h.Lines[i+1], "\\") {
			text = line[1:]
		}
		if line[0] != '+' {
			older = append(older, text)
		}
		if line[0] != '-' {
			newer = append(newer, text)
		}
	}
	return older, newer
}
