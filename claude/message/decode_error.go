package message

// DecodeError is returned when a line cannot be decoded into a message, because it is not a JSON
// object or is longer than claude.Options.MaxLine.
type DecodeError struct {
	Line string // the whole line, or its first 4 KiB
	Err  error
}
