package session

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// FuzzLog loads arbitrary records of a log, then an arbitrary snapshot. If they are valid, a snapshot of the result
// loads as the same state.
func FuzzLog(f *testing.F) {
	state := record{Time: "t", Msg: []byte(`{"type":"session_state","state":"idle"}`), Facts: &facts{State: Idle, Opened: &Opened{Provider: "claude"},
		Inputs: []input{{ID: "i", Content: `"x"`, Status: inputQueued}}, Key: &accepted{Key: "k", TurnID: "i"}}}
	text, err := state.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, []byte(`{}`))
	f.Add([]byte(`{"t":"x","m":{"type":"permission_request","request_id":"r","kind":"tool"},"f":{"asked":{"asked_at":"t"}}}`), []byte(`{"core":{"state":"running"},"conversation":{}}`))
	f.Add([]byte{}, []byte(`null`))
	f.Fuzz(func(t *testing.T, data, snap []byte) {
		s, _ := memSessions(t)
		a := s.newActor(Prefix+"fuzz", "e")
		defer a.cancel()
		if err := a.replay(eventlog.Event{Seq: 1, Data: data}, 0); err == nil {
			a.core.knowQueue(a.conv.Queue)
			_ = a.summary()
			a.core.result()
			if _, _, err := a.core.Opened.Params, a.core.title(), error(nil); err != nil {
				t.Fatal(err)
			}
			if a.seq != 1 {
				t.Errorf("after a record the number is %d, want 1", a.seq)
			}
		}
		b := s.newActor(Prefix+"fuzz", "e")
		defer b.cancel()
		if err := b.restore(snap); err == nil {
			_ = b.summary()
			first, err := json.Marshal(b.core)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			var again core
			if err := json.Unmarshal(first, &again); err != nil {
				t.Fatalf("%s cannot be read again: %v", first, err)
			}
			if second, err := json.Marshal(again); err != nil || string(second) != string(first) {
				t.Errorf("read again it is\n%s (%v)\nwant\n%s", second, err, first)
			}
		}
	})
}

// FuzzFiles loads arbitrary files of a session and of the list. No load panics or reads past the
// end of a file.
func FuzzFiles(f *testing.F) {
	line := `{"version":1,"generation":"g","summary":{"session_id":"s-1"}}`
	f.Add([]byte("1 3\nabc\n2 1\nx\n"), []byte(fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(line+"\n"), castagnoli), line)), []byte(`{"mcp_servers":{}}`))
	f.Add([]byte("1 99999999999999999999\nabc"), []byte("\n\n12345678 \n"), []byte(`null`))
	f.Add([]byte("1 -1\n"), []byte("0"), []byte(`[`))
	f.Fuzz(func(t *testing.T, deltas, list, hidden []byte) {
		s, _ := memSessions(t)
		file := shown{path: s.opts.Dir + "/s-1"}
		for path, data := range map[string][]byte{file.path: deltas, s.opts.List: list, s.secretPath("s-1"): hidden} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.read(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range file.found {
			n += len(d.data)
		}
		if n > len(deltas) {
			t.Errorf("%d bytes of deltas are in a file of %d", n, len(deltas))
		}
		for id, m := range s.openRemembered("g") {
			if m.Generation != "g" || m.Version != listVersion || m.Summary.SessionID != id {
				t.Errorf("the list has %+v for %q, want entries of this store", m, id)
			}
		}
		_, _ = s.withSecrets("s-1", &Opened{Secret: true, Params: api.ConnectParams{}})
	})
}

// FuzzInput sends prompts with arbitrary content. An accepted prompt reaches the agent and the log.
func FuzzInput(f *testing.F) {
	for _, text := range []string{`"x"`, `[{"type":"text","text":"x"}]`, `[{"type":"image","source":{"data":"x"}}]`, `{}`, `"\ud800"`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c := &core{ID: "s"}
		in := input{ID: "i", Content: event.JSON(content), Status: inputQueued}
		d, err := c.enqueue(in, "k")
		if err != nil {
			return
		}
		if _, err := in.forAgent(); err != nil {
			t.Errorf("%q is accepted, and cannot reach an agent: %v", content, err)
		}
		rec, err := record{Time: "t", Msg: []byte(`{}`), Facts: d.facts}.encode()
		if err != nil {
			t.Fatalf("%q cannot be stored: %v", content, err)
		}
		read, err := decodeRecord(rec)
		if err != nil || read.Facts == nil || len(read.Facts.Inputs) != 1 || read.Facts.Inputs[0].Content.Text() != in.Content.Text() {
			t.Errorf("the log has %s (%v), want %q", rec, err, content)
		}
	})
}
