package claudedir

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxKey is the length, in UTF-16 units, above which a key is cut and ends in a
// hash of the whole path.
const MaxKey = 200

// ProjectKey returns the name under which the CLI keeps the sessions of a directory: its
// real path with a dash for each UTF-16 unit that is not an ASCII letter or digit.
func ProjectKey(dir string) string {
	dir = RealPath(dir)
	key := Dashes(dir)
	if len(key) <= MaxKey {
		return key
	}
	var h int32
	for _, u := range utf16.Encode([]rune(dir)) {
		h = h<<5 - h + int32(u)
	}
	abs := int64(h)
	if abs < 0 {
		abs = -abs
	}
	return key[:MaxKey] + "-" + strconv.FormatInt(abs, 36)
}

// Dashes returns the key of a path before it is cut.
func Dashes(path string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(path)) {
		if '0' <= u && u <= '9' || 'A' <= u && u <= 'Z' || 'a' <= u && u <= 'z' {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

// RealPath returns the absolute path without symbolic links, as far as it can be
// resolved.
func RealPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}
