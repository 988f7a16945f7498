// Package lineedit reads lines from a person at a terminal while the program writes
// output there: a [Screen] with a redrawn part at its end, an [Editor] for the typed
// text, and its [History].
package lineedit

import (
	"bytes"
	"unicode/utf8"
)

// Code identifies an editing key.
type Code int

// The keys with a function.
const (
	Rune Code = iota // the key is a character
	Paste
	Enter
	NewLine // a line feed in the text
	Tab
	Backspace
	Delete
	DeleteWord
	KillRight
	KillAll
	Yank
	Left
	Right
	WordLeft
	WordRight
	Home
	End
	Up
	Down
	Interrupt // Ctrl-C
	CtrlD     // Ctrl-D
	Redraw    // Ctrl-L
	Ignored
)

// Key is one typed key.
type Key struct {
	Code Code
	Rune rune
	Text string // of a Paste
}

// Keys decodes the bytes of a terminal into keys. The zero value is ready to use.
type Keys struct {
	buf     []byte
	pasting bool
	pasted  []byte
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// maxPaste limits the size of one paste in bytes.
const maxPaste = 4 << 20

// Feed adds bytes and returns the complete keys.
func (k *Keys) Feed(p []byte) []Key {
	k.buf = append(k.buf, p...)
	var keys []Key
	for len(k.buf) > 0 {
		if k.pasting {
			key, ok := k.paste()
			if !ok {
				return keys
			}
			keys = append(keys, key)
			continue
		}
		key, n := k.next()
		if n == 0 {
			return keys
		}
		k.buf = k.buf[n:]
		if !k.pasting {
			keys = append(keys, key)
		}
	}
	return keys
}

// paste returns a paste if its end has arrived.
func (k *Keys) paste() (Key, bool) {
	text, rest, ended := bytes.Cut(k.buf, pasteEnd)
	if !ended {
		// The end mark may be incomplete.
		keep := min(len(pasteEnd)-1, len(k.buf))
		k.take(k.buf[:len(k.buf)-keep])
		k.buf = k.buf[len(k.buf)-keep:]
		return Key{}, false
	}
	k.take(text)
	key := Key{Code: Paste, Text: string(k.pasted)}
	k.buf, k.pasted, k.pasting = rest, nil, false
	return key, true
}

func (k *Keys) take(text []byte) {
	k.pasted = append(k.pasted, text[:min(len(text), max(maxPaste-len(k.pasted), 0))]...)
}

// next returns the first key of the buffer and its length, or 0 if more bytes are needed.
func (k *Keys) next() (Key, int) {
	b := k.buf
	switch {
	case bytes.HasPrefix(b, pasteBegin):
		k.pasting = true
		return Key{}, len(pasteBegin)
	case b[0] == 0x1b:
		return escape(b)
	case b[0] < 0x20 || b[0] == 0x7f:
		return Key{Code: controls[b[0]]}, 1
	case !utf8.FullRune(b):
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	return Key{Code: Rune, Rune: r}, n
}

// controls are the keys of control characters.
var controls = func() (codes [128]Code) {
	for i := range codes {
		codes[i] = Ignored
	}
	for c, code := range map[byte]Code{
		'A': Home, 'B': Left, 'C': Interrupt, 'D': CtrlD, 'E': End, 'F': Right, 'H': Backspace, 'I': Tab, 'J': Enter, 'K': KillRight,
		'L': Redraw, 'M': Enter, 'N': Down, 'P': Up, 'U': KillAll, 'W': DeleteWord, 'Y': Yank,
	} {
		codes[c-'@'] = code
	}
	codes[0x7f] = Backspace
	return codes
}()

// alts are keys with Alt, which the terminal sends as an escape before the character.
var alts = map[byte]Code{'\r': NewLine, '\n': NewLine, 0x7f: DeleteWord, 'b': WordLeft, 'f': WordRight, 0x08: DeleteWord}

var finals = map[byte]Code{'A': Up, 'B': Down, 'C': Right, 'D': Left, 'H': Home, 'F': End}

var tildes = map[string]Code{"1": Home, "3": Delete, "4": End, "7": Home, "8": End}

func escape(b []byte) (Key, int) {
	if len(b) == 1 {
		return Key{}, 0
	}
	if b[1] != '[' && b[1] != 'O' {
		if code, ok := alts[b[1]]; ok {
			return Key{Code: code}, 2
		}
		if b[1] == 0x1b {
			return Key{Code: Ignored}, 1
		}
		return Key{Code: Ignored}, 2
	}
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] < 0x40 {
		end++
	}
	if end == len(b) {
		return Key{}, 0
	}
	parameters := string(b[2:end])
	code, ok := finals[b[end]]
	switch {
	case b[end] == '~':
		if code, ok = tildes[parameters]; !ok {
			code = Ignored
		}
	case !ok:
		code = Ignored
	case (parameters == "1;5" || parameters == "1;3") && code == Left:
		code = WordLeft
	case (parameters == "1;5" || parameters == "1;3") && code == Right:
		code = WordRight
	}
	return Key{Code: code}, end + 1
}
