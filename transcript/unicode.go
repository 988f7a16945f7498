package transcript

import "golang.org/x/text/unicode/norm"

// composed is the text with its characters in their composed form (NFC).
func composed(s string) string { return norm.NFC.String(s) }
