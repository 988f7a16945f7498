package message

// DecodeError is returned when a line is not a message: it is not a JSON object, or it is too
// long.
type DecodeError struct {
	Line string // the whole line, or its first 4 KiB
	Err  error
}
