package server

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// flip changes a byte of the only block of the log, at the offset that find returns.
func flip(h *harness, find func(data []byte) int) {
	h.Helper()
	editBlock(h, func(data []byte) []byte {
		data[find(data)] ^= 0x55
		return data
	})
}

// editBlock changes the only block of the log.
func editBlock(h *harness, change func(data []byte) []byte) {
	h.Helper()
	name := filepath.Join(h.dir, "log", "jetstream", "$G", "streams", "PARLEY_LOG", "msgs", "1.blk")
	data, err := os.ReadFile(name)
	if err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(name, change(data), 0o600); err != nil {
		h.Fatal(err)
	}
}

// readyz returns the server's readiness report.
func readyz(h *harness) string {
	h.Helper()
	resp, err := http.Get(h.url + "/readyz")
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// lostNotices returns the notices about lost parts of the conversation.
func lostNotices(c *event.Conversation) (texts []string) {
	for _, n := range c.Notices {
		if n.Notice.Code == "log_damaged" {
			texts = append(texts, n.Notice.Text)
		}
	}
	return texts
}

// TestLoss damages the log of a session: the rest of the conversation is available, a notice reports the loss once, the
// queue is held, old cursors are invalid, and the server reports it, with the snapshot and without.
func TestLoss(t *testing.T) {
	t.Run("snapshot", func(t *testing.T) { testLoss(t, true) })
	t.Run("log alone", func(t *testing.T) { testLoss(t, false) })
}

func testLoss(t *testing.T, snapshot bool) {
	h := newHarness(t, func(o *Options) { o.DrainTimeout = 10 * time.Millisecond })
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	h.query(id, "say two")
	w.results(2)
	h.query(id, "say three")
	w.results(3)
	h.query(id, "wait")
	w.state(session.Running)
	h.query(id, "say four")
	before, err := h.store.Log(id).Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text := readyz(h); text != "ok\n" {
		t.Errorf("readyz of a sound log: %q", text)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	flip(h, func(data []byte) int { return bytes.Index(data, []byte("say two")) })
	if !snapshot {
		if err := os.RemoveAll(filepath.Join(h.dir, "log", "jetstream", "$G", "streams", "PARLEY_SNAPSHOT", "msgs")); err != nil {
			t.Fatal(err)
		}
	}
	h.start()
	for range 2 {
		c := h.history(id)
		if texts := lostNotices(c); len(texts) != 1 || !strings.Contains(texts[0], "A part of this conversation is lost") {
			t.Errorf("notices %q", texts)
		}
		if got := text(c); !strings.Contains(got, "one") || !strings.Contains(got, "three") {
			t.Errorf("the conversation is %q", got)
		}
		if len(c.Queue) != 1 || c.Queue[0].Status != "held" {
			t.Errorf("the queue is %+v", c.Queue)
		}
		if got := readyz(h); !strings.HasPrefix(got, "ok\n") || !strings.Contains(got, "1 logs have lost events") || strings.Contains(got, id) {
			t.Errorf("readyz: %q", got)
		}
		h.restart() // the notice is not repeated
	}
	if after, err := h.store.Log(id).Last(t.Context()); err != nil || after.Epoch == before.Epoch {
		t.Errorf("the epoch is still %s: %v", after.Epoch, err)
	}
}

// TestLoss_fromFirstEvent loses the first event of a session, and a session entirely: both are listed, show the remaining content with a notice,
// reject prompts, and can be deleted, after which no loss is reported any more.
func TestLoss_fromFirstEvent(t *testing.T) {
	h := newHarness(t)
	ids := []string{h.connect(), h.connect()}
	for _, id := range ids {
		w := h.watch(id)
		h.query(id, "say one")
		w.results(1)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "log", "jetstream", "$G", "streams", "PARLEY_SNAPSHOT", "msgs")); err != nil {
		t.Fatal(err)
	}
	editBlock(h, func(data []byte) []byte {
		data[bytes.Index(data, []byte("parley.log."+ids[0]))] ^= 0x55
		return bytes.ReplaceAll(data, []byte("parley.log."+ids[1]), []byte("parley.lag."+ids[1]))
	})
	h.start()
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 2 {
		t.Fatalf("%d sessions are listed, want 2: %+v", len(list.Sessions), list.Sessions)
	}
	for i, id := range ids {
		if x := h.summary(id); x.State != string(session.Failed) || !strings.Contains(x.Title, []string{"one", "damaged session"}[i]) {
			t.Errorf("session %d is listed as %s %q", i, x.State, x.Title)
		}
		c := h.history(id)
		if got := text(c); len(lostNotices(c)) != 1 || strings.Contains(got, "one") != (i == 0) {
			t.Errorf("session %d has the text %q and the notices %q", i, got, lostNotices(c))
		}
		h.refused(api.Conflict, "session.query", api.QueryParams{SessionID: id, Text: "say two"})
	}
	h.restart()
	for _, id := range ids {
		if c := h.history(id); len(lostNotices(c)) != 1 {
			t.Errorf("notices after a restart: %q", lostNotices(c))
		}
		h.call("session.delete", api.SessionDeleteParams{SessionID: id}, nil)
	}
	if text := readyz(h); text != "ok\n" {
		t.Errorf("readyz after the deletion: %q", text)
	}
	h.restart()
	h.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 0 {
		t.Errorf("deleted sessions are listed: %+v", list.Sessions)
	}
}

// TestLoss_anywhere flips bytes all over the log, including the server's data: it starts in any case, and lists the
// session.
func TestLoss_anywhere(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	places := short.Count(4, 8, 100)
	for i := range places {
		if err := h.stop(); err != nil {
			t.Fatal(err)
		}
		flip(h, func(data []byte) int { return len(data)*i/places + 40 })
		h.start()
		if got := readyz(h); !strings.Contains(got, "lost") {
			t.Errorf("place %d: readyz: %q", i, got)
		}
		h.info(id)
	}
}
