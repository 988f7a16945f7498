package codex

import (
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestMailbox checks that a full mailbox blocks the writer while it has a reader.
func TestMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &item.Warning{}
		box := newMailbox(3 * cost(n))
		box.attach()
		stop := make(chan struct{})
		pushed := 0
		go func() {
			for range 10 {
				box.push(n, stop)
				pushed++
			}
		}()
		synctest.Wait()
		if pushed != 3 {
			t.Errorf("%d were taken without a reader at work", pushed)
		}
		if _, ok, err := box.next(t.Context()); !ok || err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if pushed != 4 {
			t.Errorf("%d after one was read", pushed)
		}
		box.leave()
		synctest.Wait()
		if pushed != 10 {
			t.Errorf("%d after the reader has left", pushed)
		}
	})
}

// TestMailbox_stop checks that the end of the client unblocks a writer.
func TestMailbox_stop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &item.Warning{}
		box := newMailbox(cost(n))
		box.attach()
		stop := make(chan struct{})
		box.push(n, stop)
		done := make(chan struct{})
		go func() {
			defer close(done)
			box.push(n, stop)
		}()
		synctest.Wait()
		close(stop)
		<-done
	})
}
