package nats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/nats"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a connection to a server with JetStream.
func connect(t *testing.T) jetstream.JetStream {
	t.Helper()
	nc, err := natsgo.Connect(natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func open(t *testing.T, js jetstream.JetStream, stream string) *nats.Store {
	t.Helper()
	s, err := nats.Open(t.Context(), js, nats.Options{Stream: stream})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var key = claude.SessionKey{ProjectKey: "p", SessionID: "s"}

func entry(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

func TestStore(t *testing.T) {
	js := connect(t)
	var n atomic.Int32
	next := func() string { return fmt.Sprint("S", n.Add(1)) }
	t.Run("contracts", func(t *testing.T) {
		claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore { return open(t, js, next()) })
	})
	t.Run("shared", func(t *testing.T) {
		claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore {
			name := next()
			return claudetest.AlternateStores(open(t, js, name), open(t, js, name))
		})
	})
}

// TestStore_text checks that the text of entries is kept, even of one that is larger than a NATS
// message.
func TestStore_text(t *testing.T) {
	js := connect(t)
	s := open(t, js, "")
	texts := []string{`{"b":1,"a":"\u0000 \ud800",` + "\n" + `"n":1.0, "b":2}`, `{"uuid":"large","text":"` + strings.Repeat("x", 3<<20) + `"}`, `{"uuid":"last"}`}
	var all []json.RawMessage
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	if err := s.Append(t.Context(), key, all); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, js, "").Load(t.Context(), key)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d entries, %v, want %d", len(got), err, len(texts))
	}
	for i, text := range texts {
		if string(got[i]) != text {
			t.Errorf("entry %d has %d bytes, want the %d bytes that were written", i, len(got[i]), len(text))
		}
	}
}

// TestStore_writers appends to one session from several stores at the same time: each entry is stored once, and the entries of each
// writer keep their order.
func TestStore_writers(t *testing.T) {
	js := connect(t)
	const writers, appends = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t, js, "")
		wg.Go(func() {
			for i := range appends {
				e := entry(`{"uuid":"%d-%d","writer":%d,"n":%d}`, w, i, w, i)
				if err := s.Append(t.Context(), key, []json.RawMessage{e, entry(`{"uuid":"shared"}`)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := open(t, js, "").Load(t.Context(), key)
	if err != nil || len(got) != writers*appends+1 {
		t.Fatalf("%d entries, %v, want %d", len(got), err, writers*appends+1)
	}
	last := map[int]int{}
	for _, raw := range got {
		var e struct {
			UUID      string
			Writer, N int
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e.UUID == "shared" {
			continue
		}
		if e.N != last[e.Writer] {
			t.Errorf("entry %d of writer %d comes after %d entries of it", e.N, e.Writer, last[e.Writer])
		}
		last[e.Writer]++
	}
}

// TestStore_cut reads a transcript whose last writer exited in the middle of a record: that record is ignored, and the next one is read.
func TestStore_cut(t *testing.T) {
	js := connect(t)
	s := open(t, js, "")
	before := entry(`{"uuid":"a","type":"user","message":{"role":"user","content":"hello"}}`)
	if err := s.Append(t.Context(), key, []json.RawMessage{before}); err != nil {
		t.Fatal(err)
	}
	sums, err := s.ListSummaries(t.Context(), "p")
	if err != nil || len(sums) != 1 {
		t.Fatalf("the summaries are %+v, %v", sums, err)
	}
	stream, err := js.Stream(t.Context(), "CLAUDE_SESSIONS")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	for subject := range info.State.Subjects {
		msg := natsgo.NewMsg(subject)
		msg.Header.Set("Part", "0/2")
		msg.Data = []byte("\x10{")
		if _, err := js.PublishMsg(t.Context(), msg); err != nil {
			t.Fatal(err)
		}
	}
	for _, store := range []*nats.Store{s, open(t, js, "")} {
		got, err := store.Load(t.Context(), key)
		if err != nil || len(got) != 1 || string(got[0]) != string(before) {
			t.Errorf("the transcript is %s, %v, want the entry before", got, err)
		}
		again, err := store.ListSummaries(t.Context(), "p")
		if err != nil || len(again) != 1 || string(again[0].Data) != string(sums[0].Data) || !again[0].ModTime.Equal(sums[0].ModTime) {
			t.Errorf("the summaries are %+v, %v, want those before: %+v", again, err, sums)
		}
	}
	if err := s.Append(t.Context(), key, []json.RawMessage{before, entry(`{"uuid":"b"}`)}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load(t.Context(), key); err != nil || len(got) != 2 {
		t.Errorf("the transcript is %s, %v, want one more entry", got, err)
	}
}

// TestStore_full checks the errors of a full stream and of an ended context.
func TestStore_full(t *testing.T) {
	js := connect(t)
	s, err := nats.Open(t.Context(), js, nats.Options{MaxBytes: 10 << 10})
	if err != nil {
		t.Fatal(err)
	}
	large := entry(`{"text":%q}`, strings.Repeat("x", 20<<10))
	if err := s.Append(t.Context(), key, []json.RawMessage{large}); err == nil || !strings.Contains(err.Error(), "maximum bytes") {
		t.Errorf("an append beyond the limit returns %v", err)
	}
	if got, err := s.Load(t.Context(), key); err != nil || got != nil {
		t.Errorf("the transcript is %s, %v, want none", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, key, []json.RawMessage{entry(`{}`)}); err == nil {
		t.Error("an append with an ended context succeeds")
	}
}
