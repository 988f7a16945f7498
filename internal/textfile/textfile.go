// Package textfile reads text files that a person writes. Some editors put a byte order mark at the start of a file, which is
// no part of the text: JSON, PEM and keys are invalid with it.
package textfile

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

var mark = []byte("\ufeff")

// Trim returns the content of a file without a byte order mark at its start.
func Trim(content []byte) []byte { return bytes.TrimPrefix(content, mark) }

// Read reads a file, and omits a byte order mark at its start.
func Read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	return Trim(content), err
}

// Reader returns a reader of the same text without a byte order mark at its start.
func Reader(r io.Reader) io.Reader {
	text := bufio.NewReader(r)
	if head, _ := text.Peek(len(mark)); bytes.Equal(head, mark) {
		_, _ = text.Discard(len(mark)) // it is in the buffer
	}
	return text
}
