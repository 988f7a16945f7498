package claude

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxProjectKey is the length, in UTF-16 units, from which a key is cut and a
// hash of the whole path put behind it.
const maxProjectKey = 200

// ProjectKey is the name under which the CLI keeps the sessions of a directory:
// its real path with everything but letters and digits replaced by dashes.
func ProjectKey(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	units := utf16.Encode([]rune(dir))
	var b strings.Builder
	for _, u := range units {
		if '0' <= u && u <= '9' || 'A' <= u && u <= 'Z' || 'a' <= u && u <= 'z' {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	key := b.String()
	if len(key) <= maxProjectKey {
		return key
	}
	var h int32
	for _, u := range units {
		h = h<<5 - h + int32(u)
	}
	abs := int64(h)
	if abs < 0 {
		abs = -abs
	}
	return key[:maxProjectKey] + "-" + strconv.FormatInt(abs, 36)
}
