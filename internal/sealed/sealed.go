// Package sealed adds a checksum to the content of a small file, so that a reader notices damage which leaves the content well-formed: a
// changed digit of a hash, a password or a time.
package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrDamaged is returned for content that does not match its checksum.
var ErrDamaged = errors.New("the checksum does not match")

// head begins the last line of sealed content. JSON has no such line.
const head = "\ncrc32c "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns content with a last line that has its checksum.
func Seal(content []byte) []byte {
	return fmt.Appendf(bytes.Clone(content), "%s%08x\n", head, crc32.Checksum(content, castagnoli))
}

// Open returns the content of sealed data, or [ErrDamaged]. Data without a checksum, of an older program, is content: its reader must reject
// what is not complete, and text after the end.
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
