package host

import "sync"

// bufferSize has room for the largest frame of a record, and for what is read at once with the heads of its lines.
const bufferSize = 2 * readSize

// buffers are shared by all agents, so that one that is quiet holds none.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, bufferSize)
	return &b
}}

func getBuffer() []byte { return *buffers.Get().(*[]byte) }

// putBuffer gives a buffer back. One that has grown is left to the garbage collector.
func putBuffer(b []byte) {
	if cap(b) >= bufferSize && cap(b) <= 4*bufferSize {
		b = b[:bufferSize]
		buffers.Put(&b)
	}
}
