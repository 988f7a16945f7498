package claude

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"
)

func TestLineQueue_order(t *testing.T) {
	m := newLineQueue(nil)
	const n = 20000
	var work sync.WaitGroup
	work.Go(func() {
		for i := range n {
			m.put(entry{text: strconv.Itoa(i)})
		}
		m.end(nil)
	})
	for i := range n {
		e, ok, err := m.take(t.Context())
		if !ok || err != nil || e.text != strconv.Itoa(i) {
			t.Fatalf("%d: %q %v %v; want ok and err == nil and e.text == strconv.Itoa(i)", i, e.text, ok, err)
		}
	}
	if _, ok, err := m.take(t.Context()); ok || err != nil {
		t.Fatalf("ok is %v, err is %v; want not ok and err == nil", ok, err)
	}
	work.Wait()
	if b := m.size(); b != 0 {
		t.Fatalf("%d bytes left", b)
	}
}

func TestLineQueue_bytes(t *testing.T) {
	freed := 0
	m := newLineQueue(func() { freed++ })
	m.put(entry{text: "four"})
	m.put(entry{text: "and seven"})
	if b := m.size(); b != 13 {
		t.Fatalf("b is %v; want b == 13", b)
	}
	if _, ok, _ := m.take(t.Context()); !ok || m.size() != 9 || freed != 1 {
		t.Fatalf("m.size() is %v, freed is %v; want ok and m.size() == 9 and freed == 1", m.size(), freed)
	}
	m.drop()
	if m.size() != 0 || freed != 2 {
		t.Fatalf("m.size() is %v, freed is %v; want m.size() == 0 and freed == 2", m.size(), freed)
	}
	m.put(entry{text: "for nobody"})
	if m.size() != 0 || m.queue != nil {
		t.Fatal("kept")
	}
}

func TestLineQueue_end(t *testing.T) {
	m := newLineQueue(nil)
	first := errors.New("first")
	m.put(entry{text: "a"})
	m.end(first)
	m.end(errors.New("second"))
	if e, ok, _ := m.take(t.Context()); !ok || e.text != "a" {
		t.Fatalf("e is %v, ok is %v; want ok and e.text == \"a\"", e, ok)
	}
	for range 2 {
		if _, ok, err := m.take(t.Context()); ok || err != first {
			t.Fatalf("ok is %v, err is %v; want not ok and err == first", ok, err)
		}
	}
}

func TestLineQueue_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newLineQueue(nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan string, 1)
		take := func() {
			e, _, err := m.take(ctx)
			if err != nil {
				e.text = err.Error()
			}
			got <- e.text
		}
		go take()
		synctest.Wait()
		m.put(entry{text: "a"})
		if s := <-got; s != "a" {
			t.Fatalf("s is %v; want s == \"a\"", s)
		}
		go take()
		synctest.Wait()
		cancel(errors.New("enough"))
		if s := <-got; s != "enough" {
			t.Fatalf("s is %v; want s == \"enough\"", s)
		}
		m.put(entry{text: "b"})
		if _, ok, err := m.take(ctx); ok || err.Error() != "enough" {
			t.Fatalf("ok is %v, err is %v; want not ok and err.Error() == \"enough\"", ok, err)
		}
	})
}

func TestLineQueue_burst(t *testing.T) {
	m := newLineQueue(nil)
	for range 10000 {
		m.put(entry{text: "x"})
	}
	for range 10000 {
		m.take(t.Context())
	}
	m.put(entry{text: "y"})
	m.take(t.Context())
	if c := cap(m.queue); c > 4096 {
		t.Fatalf("room for %d entries is kept", c)
	}
}

// Queues copy every line of a stream; the compiler keeps at most four words of 64 bits in registers.
func TestEntry_size(t *testing.T) {
	if size := unsafe.Sizeof(entry{}); size > 32 {
		t.Errorf("an entry has %d bytes, want at most 32", size)
	}
}
