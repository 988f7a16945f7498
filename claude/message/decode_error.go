package message

// DecodeError says why a line is no message.
type DecodeError struct {
	Line string // the whole line, or its first 4 KiB
	Err  error
}
