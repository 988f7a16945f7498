package acphttp

import (
	"fmt"
	"net/http"
	"testing"
)

// The total size of a client's unanswered requests is limited. A single request may exceed the
// limit, and an answer frees space.
func TestRoutes_bytes(t *testing.T) {
	line := make([]byte, maxPendingBytes/2)
	var known routes
	request := func(i, size int) *message {
		return &message{line: line[:size], id: fmt.Sprintf(`"%d"`, i), hasID: true, named: true, method: "x"}
	}
	for i, size := range []int{len(line), len(line)} {
		if r := known.admit(request(i, size), ""); r != nil {
			t.Fatalf("request %d of %d bytes is refused: %+v", i, size, r)
		}
	}
	if r := known.admit(request(2, 1), ""); r == nil || r.status != http.StatusTooManyRequests {
		t.Errorf("a request beyond the limit is refused with %+v, want status 429", r)
	}
	known.route(&message{id: `"0"`, hasID: true})
	if r := known.admit(request(3, 1), ""); r != nil {
		t.Errorf("after an answer a request is refused with %+v, want it accepted", r)
	}
	known = routes{}
	if r := known.admit(&message{line: make([]byte, maxPendingBytes+1), id: "1", hasID: true, named: true}, ""); r != nil {
		t.Errorf("one large request is refused with %+v, want it accepted", r)
	}
}

// A stream without a reader is dropped if it is empty, and kept with its messages otherwise. It has at most one reader, and a later stream of the same
// name is a new one.
func TestConn_release(t *testing.T) {
	for _, tt := range []struct {
		name   string
		queue  int
		other  bool // another stream has the same name
		forget bool
	}{{"empty", 0, false, true}, {"with messages", 1, false, false}, {"empty, replaced", 0, true, false}, {"with messages, replaced", 1, true, false}} {
		c := &conn{streams: map[string]*stream{}, opts: &Options{MaxStreams: 1}}
		s, err := c.acquire("k")
		if err != nil || s == nil || !s.read {
			t.Fatalf("%s: the stream is %+v, %v, want one with a reader", tt.name, s, err)
		}
		if again, err := c.acquire("k"); again != nil || err != nil {
			t.Errorf("%s: a second reader has %+v, %v, want nothing", tt.name, again, err)
		}
		s.queue = make([][]byte, tt.queue)
		if tt.other {
			c.streams["k"] = &stream{read: true}
		}
		c.release("k", s)
		if got := c.streams["k"] == nil; s.read || got != tt.forget {
			t.Errorf("%s: it has a reader: %v, it is forgotten: %v, want %v", tt.name, s.read, got, tt.forget)
		}
	}
}

// A reader takes the oldest messages in order, at least one and little more than takeBytes, and
// wakes a writer that waits for space.
func TestConn_take(t *testing.T) {
	big := make([]byte, takeBytes)
	for name, tt := range map[string]struct {
		queue [][]byte
		want  int // number of messages
	}{
		"nothing": {nil, 0}, "one": {[][]byte{[]byte("a")}, 1}, "some": {[][]byte{[]byte("a"), []byte("bc"), []byte("d")}, 3},
		"a large one": {[][]byte{big, []byte("b")}, 1}, "up to a piece": {[][]byte{[]byte("a"), big, []byte("b")}, 2},
	} {
		waits := make(chan struct{})
		c := &conn{streams: map[string]*stream{}, room: waits}
		s := &stream{queue: append([][]byte(nil), tt.queue...)}
		left := 0
		for i, line := range tt.queue {
			c.waiting += len(line)
			if i >= tt.want {
				left += len(line)
			}
		}
		lines := c.take(s)
		if len(lines) != tt.want || len(s.queue) != len(tt.queue)-tt.want || c.waiting != left {
			t.Errorf("%s: %d messages are taken, %d and %d bytes are left, want %d, %d and %d", name, len(lines), len(s.queue), c.waiting, tt.want, len(tt.queue)-tt.want, left)
		}
		if len(s.queue) == 0 && s.queue != nil {
			t.Errorf("%s: the memory of the taken messages is kept", name)
		}
		for i := range lines {
			if &lines[i][0] != &tt.queue[i][0] {
				t.Errorf("%s: message %d is another one", name, i)
			}
		}
		woken := false
		select {
		case <-waits:
			woken = true
		default:
		}
		if woken != (tt.want > 0) || (c.room == nil) != woken {
			t.Errorf("%s: who waits for room is woken: %v, want %v", name, woken, tt.want > 0)
		}
	}
}
