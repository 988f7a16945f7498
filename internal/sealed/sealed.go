// Package sealed adds a checksum to the content of a small file, so that a reader detects damage even if the content is
// still well-formed, such as a changed digit in a hash, a password or a time.
package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrDamaged is returned for content that does not match its checksum.
var ErrDamaged = errors.New("the checksum does not match")

// head begins the last line of sealed content. No JSON text has such a line.
const head = "\ncrc32c "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns content followed by a line with its checksum.
func Seal(content []byte) []byte {
	return fmt.Appendf(bytes.Clone(content), "%s%08x\n", head, crc32.Checksum(content, castagnoli))
}

// Open returns the content of sealed data, or [ErrDamaged]. It returns data without a checksum unchanged, because older
// programs wrote no checksum: the caller must then reject incomplete content and trailing text.
func Open(data []byte) ([]byte, error) {
	at := bytes.LastIndex(data, []byte(head))
	if at < 0 {
		return data, nil
	}
	if content := data[:at]; bytes.Equal(Seal(content), data) {
		return content, nil
	}
	return nil, ErrDamaged
}
