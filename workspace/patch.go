package workspace

import (
	"strconv"
	"strings"
)

// parseRaw reads the output of git diff-tree --raw -z.
func parseRaw(raw string) []File {
	files := []File{}
	fields := strings.Split(raw, "\x00")
	for i := 0; i+1 < len(fields); {
		// :oldmode newmode oldid newid status
		head := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(head) != 5 || head[4] == "" {
			return files
		}
		f := File{OldMode: head[0], NewMode: head[1], oldBlob: head[2], newBlob: head[3], Path: fields[i+1], Hunks: []Hunk{}}
		i += 2
		switch head[4][0] {
		case 'A':
			f.Kind, f.OldMode = Added, ""
		case 'D':
			f.Kind, f.NewMode = Deleted, ""
		case 'T':
			f.Kind = Retyped
		case 'R', 'C':
			if i >= len(fields) || fields[i] == "" {
				return files // the output was cut
			}
			f.Kind, f.OldPath, f.Path = Moved, f.Path, fields[i]
			i++
		default:
			f.Kind = Updated
		}
		if f.Path != "" {
			files = append(files, f)
		}
	}
	return files
}

// parsePatch reads the output of git diff-tree -p into files, which are in the same order. whole is
// set if the output was not cut. It reports whether any hunk was omitted.
func parsePatch(files []File, patch string, whole bool) (cut bool) {
	r := &patchReader{rest: patch, whole: whole}
	for i := range files {
		f := &files[i]
		parts := 1
		if f.Kind == Retyped {
			parts = 2 // the old one is deleted, the new one added
		}
		for range parts {
			if !r.header(f) {
				f.Truncated = true
				cut = true
				break
			}
			r.hunks(f)
		}
		if f.Kind == Retyped {
			f.Hunks = []Hunk{} // without hunks there is no part to revert
		}
		cut = cut || f.Truncated
	}
	return cut
}

// patchReader reads a patch line by line.
type patchReader struct {
	rest  string
	whole bool
}

// peek returns the next line without its line feed. It ignores a last line that may have been cut.
func (r *patchReader) peek() (string, bool) {
	line, _, ended := strings.Cut(r.rest, "\n")
	return line, ended || r.whole && line != ""
}

func (r *patchReader) skip() {
	_, r.rest, _ = strings.Cut(r.rest, "\n")
}

// header reads up to the hunks of the next file. It returns false at the end.
func (r *patchReader) header(f *File) bool {
	line, ok := r.peek()
	if !ok || !strings.HasPrefix(line, "diff --git ") {
		return false
	}
	for {
		r.skip()
		line, ok = r.peek()
		if !ok || strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "diff --git ") {
			return true
		}
		if strings.HasPrefix(line, "Binary files ") {
			f.Binary = true
		}
	}
}

// hunks reads the hunks of a file.
func (r *patchReader) hunks(f *File) {
	size := 0
	for {
		line, ok := r.peek()
		if !ok || !strings.HasPrefix(line, "@@ ") {
			if !ok && !r.whole {
				f.Truncated = true
			}
			return
		}
		r.skip()
		h, ok := hunkHeader(line)
		if !ok || !r.lines(&h) {
			f.Truncated = true
			return
		}
		for _, line := range h.Lines {
			size += len(line)
		}
		if f.Truncated = f.Truncated || size > maxFileBytes; f.Truncated {
			continue // skip to the next file
		}
		h.identify(f.Path)
		for _, line := range h.Lines {
			switch line[0] {
			case '+':
				f.Added++
			case '-':
				f.Removed++
			}
		}
		f.Hunks = append(f.Hunks, h)
	}
}

// lines reads the lines of a hunk. Its header has their number, so that a line of the file that
// looks like a header is not mistaken for one.
func (r *patchReader) lines(h *Hunk) bool {
	for older, newer := h.OldLines, h.NewLines; ; {
		line, ok := r.peek()
		if older == 0 && newer == 0 && !strings.HasPrefix(line, "\\") {
			return true
		}
		if !ok || line == "" {
			return false
		}
		switch line[0] {
		case '+':
			newer--
		case '-':
			older--
		case ' ':
			older--
			newer--
		}
		r.skip()
		h.Lines = append(h.Lines, line)
	}
}

// hunkHeader reads @@ -old,lines +new,lines @@ section.
func hunkHeader(line string) (Hunk, bool) {
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, "@@ "), " @@")
	older, newer, both := strings.Cut(ranges, " ")
	if !ok || !both {
		return Hunk{}, false
	}
	h := Hunk{Section: strings.TrimPrefix(section, " ")}
	var ok1, ok2 bool
	h.OldStart, h.OldLines, ok1 = lineRange(older, "-")
	h.NewStart, h.NewLines, ok2 = lineRange(newer, "+")
	return h, ok1 && ok2
}

func lineRange(text, sign string) (start, lines int, ok bool) {
	first, count, counted := strings.Cut(strings.TrimPrefix(text, sign), ",")
	start, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	if !counted {
		return start, 1, true
	}
	lines, err = strconv.Atoi(count)
	return start, lines, err == nil && lines >= 0
}
