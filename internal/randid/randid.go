// Package randid makes random identifiers.
package randid

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// Hex returns n random bytes in hexadecimal.
func Hex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// UUID returns a random UUID, version 4.
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
