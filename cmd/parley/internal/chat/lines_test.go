package chat

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// A line that ends with a backslash continues in the next, if there is one.
func TestReadPromptLines(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("one\ntwo\\\r\nthree\n\n\\\nfour\nfive\\"))
	for i, want := range []struct {
		text string
		err  error
	}{{"one", nil}, {"two\nthree", nil}, {"", nil}, {"\nfour", nil}, {"five", io.EOF}, {"", io.EOF}} {
		if got, err := readPromptLines(in); got != want.text || err != want.err {
			t.Errorf("prompt %d is %q, %v, want %q, %v", i, got, err, want.text, want.err)
		}
	}
}
