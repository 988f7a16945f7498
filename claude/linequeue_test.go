package claude

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
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
			t.Fatalf("%d: %q %v %v", i, e.text, ok, err)
		}
	}
	if _, ok, err := m.take(t.Context()); ok || err != nil {
		t.Fatal(ok, err)
	}
	work.Wait()
	if b := m.bytes.Load(); b != 0 {
		t.Fatalf("%d bytes left", b)
	}
}

func TestLineQueue_bytes(t *testing.T) {
	freed := 0
	m := newLineQueue(func() { freed++ })
	m.put(entry{text: "four"})
	m.put(entry{text: "and seven"})
	if b := m.bytes.Load(); b != 13 {
		t.Fatal(b)
	}
	if _, ok, _ := m.take(t.Context()); !ok || m.bytes.Load() != 9 || freed != 1 {
		t.Fatal(m.bytes.Load(), freed)
	}
	m.drop()
	if m.bytes.Load() != 0 || freed != 2 {
		t.Fatal(m.bytes.Load(), freed)
	}
	m.put(entry{text: "for nobody"})
	if m.bytes.Load() != 0 || m.queue != nil {
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
		t.Fatal(e, ok)
	}
	for range 2 {
		if _, ok, err := m.take(t.Context()); ok || err != first {
			t.Fatal(ok, err)
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
			t.Fatal(s)
		}
		go take()
		synctest.Wait()
		cancel(errors.New("enough"))
		if s := <-got; s != "enough" {
			t.Fatal(s)
		}
		m.put(entry{text: "b"})
		if _, ok, err := m.take(ctx); ok || err.Error() != "enough" {
			t.Fatal(ok, err)
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
