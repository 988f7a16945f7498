// Package jsonwire decodes one line of the CLI's wire into Go values.
//
// It differs from encoding/json where the wire needs it:
//
//   - The input is one immutable string and decoded strings are substrings of
//     it wherever they hold no escape, so a small message costs a handful of
//     allocations. Keeping one field for long keeps the whole line alive.
//   - Only broken JSON is an error. A member of another type than its field
//     leaves the field zero; the text is still in the line.
//   - Keys are case-sensitive, and unknown members are passed over.
//   - Interfaces and other types that need to look at the text first are decoded
//     by functions given to [Register].
//   - A string type given to [RegisterText] takes the text of a value as it is,
//     so heavy parts are decoded only on demand. Of such a text only the
//     end is looked for; what is wrong inside it is found when it is decoded.
//
// Everything that is decoded is valid exactly where encoding/json says so, and
// strings decode to the same runes, invalid UTF-8 and lone surrogates included;
// fuzz tests hold the two against each other. A Decoder is for one goroutine; its tables are
// shared and safe.
package jsonwire
