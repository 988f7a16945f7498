package eventlog

// EventsOf yields the numbers of the events in a message of a log.
func EventsOf(msg []byte) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		h, _, err := decodePart(msg)
		for seq := h.first; err == nil && seq <= h.last() && yield(seq); seq++ {
		}
	}
}
