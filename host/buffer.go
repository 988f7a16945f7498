package host

import "sync"

// bufferSize is large enough for the largest frame of a record, and for the data of one read with the headers of
// its lines.
const bufferSize = 2 * readSize

// buffers are shared by all agents, so that a quiet agent holds none.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, bufferSize)
	return &b
}}

func getBuffer() []byte { return *buffers.Get().(*[]byte) }

// putBuffer returns a buffer to the pool. A buffer that has grown is left to the garbage collector.
func putBuffer(b []byte) {
	if cap(b) >= bufferSize && cap(b) <= 4*bufferSize {
		b = b[:bufferSize]
		buffers.Put(&b)
	}
}
