// Package jsonwire decodes one line of the CLI's wire into Go values.
//
// It differs from encoding/json:
//
//   - The input is one immutable string and decoded strings without escapes are substrings
//     of it, so a small message costs a handful of allocations. A retained field keeps the
//     whole line in memory.
//   - Only invalid JSON is an error. A member of another type than its field leaves the
//     field zero; the text is still in the line.
//   - Keys are case-sensitive, and unknown members are skipped.
//   - Functions passed to [Register] decode interfaces and other types that depend on the
//     text.
//   - A string type passed to [RegisterText] holds the text of a value, so large parts are
//     decoded only on demand. Only the end of such a text is searched; errors inside are
//     detected when it is decoded.
//
// Decoded input is valid exactly if encoding/json accepts it, and strings decode to the same
// runes, including invalid UTF-8 and lone surrogates; fuzz tests compare the two. A Decoder
// is not safe for concurrent use; the shared tables are.
package jsonwire
