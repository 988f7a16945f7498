// Package random makes random identifiers.
package random

import (
	"crypto/rand"
	"encoding/hex"
)

// Hex returns n random bytes in hexadecimal.
func Hex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// UUID returns a random UUID, version 4.
func UUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
