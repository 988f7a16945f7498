package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestCluster_textBack moves a session away from a server and back. The files of that server still
// have older text: it must show the text of the other owner, and its own once.
func TestCluster_textBack(t *testing.T) {
	h := newCluster(t, 0, 3*time.Second)
	lines := []*gate{newGate(t, strings.TrimPrefix(h.urls, "nats://")), newGate(t, strings.TrimPrefix(h.urls, "nats://"))}
	one, two := h.add("nats://"+lines[0].address()), h.add("nats://"+lines[1].address())
	id := one.connect()
	one.query(id, "wait")
	one.watch(id).awaitAnswer("I wait.")
	lines[0].cut()
	w := two.watch(id)
	w.state(session.Interrupted)
	two.query(id, "wait")
	w.until("the same text again", func(c *event.Conversation) bool { return strings.Count(text(c), "I wait.") == 2 })
	lines[0].heal()
	h.eventually("the first server forwards", func() bool {
		return one.client(one.token).Call(one.ctx(), "session.rename", api.SessionRenameParams{SessionID: id, Title: "forwarded"}, nil) == nil
	})
	lines[1].cut()
	back := one.watch(id)
	back.state(session.Interrupted)
	one.query(id, "say back")
	back.awaitAnswer("back")
	if n := strings.Count(text(one.history(id)), "I wait."); n != 2 {
		t.Errorf("the text of two turns is there %d times:\n%s", n, text(one.history(id)))
	}
	lines[1].heal()
	checkOwners(t, one.store, id)
}

// TestCluster_starts restarts servers: the logs of sessions without work do not grow.
func TestCluster_starts(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	id := one.connect()
	one.query(id, "say first")
	one.watch(id).results(1)
	for _, n := range h.all {
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
	}
	last := func() uint64 {
		h.startNode(two, h.urls)
		at, err := two.store.Log(id).Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := two.listed(id); !ok || s.Seq != at.Seq || s.Turns != 1 {
			t.Errorf("the session is listed as %+v", s)
		}
		if err := two.stop(); err != nil {
			t.Fatal(err)
		}
		return at.Seq
	}
	begin := last()
	for range 3 {
		h.startNode(one, h.urls)
		if err := one.stop(); err != nil {
			t.Fatal(err)
		}
		if end := last(); end != begin {
			t.Fatalf("after a start of both servers the log ends at %d, before at %d", end, begin)
		}
	}
	h.startNode(one, h.urls)
	h.startNode(two, h.urls)
	two.query(id, "say second")
	two.watch(id).results(2)
}

// TestCluster_blobs moves a session with a password and an upload to another server, and deletes it there.
func TestCluster_blobs(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	const password = "pass-4711-word"
	var made api.ConnectResult
	one.call("session.connect", api.ConnectParams{MCPServers: event.JSON(`{"db":{"command":"db","env":{"KEY":"` + password + `"}}}`)}, &made)
	id := made.SessionID
	var up api.ImageUploadResult
	picture := bytes.Repeat([]byte("picture"), 100_000)
	one.call("image.upload", api.ImageUploadParams{SessionID: id, Name: "a.png", MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(picture)}, &up)
	if got := filesWith(t, one.dir, password); len(got) != 0 {
		t.Errorf("the password is in %q", got)
	}
	if err := one.stop(); err != nil {
		t.Fatal(err)
	}
	secret, err := two.server.secrets.Read(t.Context(), id)
	if err != nil || !bytes.Contains(secret, []byte(password)) {
		t.Errorf("the other server has the secrets %q, %v", secret, err)
	}
	image, err := json.Marshal(map[string]any{"type": "image", "source": map[string]string{"type": "upload", "id": up.ID}})
	if err != nil {
		t.Fatal(err)
	}
	two.call("session.queryWithContent", api.QueryWithContentParams{SessionID: id, Content: []event.JSON{event.JSON(image), `{"type":"text","text":"say seen"}`}}, nil)
	two.watch(id).results(1)
	if c, err := json.Marshal(two.history(id)); err != nil || bytes.Contains(c, []byte("mcp_missing")) {
		t.Errorf("the MCP servers are missing: %v", err)
	}
	two.call("session.delete", api.SessionDeleteParams{SessionID: id}, nil)
	if data, err := two.server.secrets.Read(t.Context(), id); err == nil {
		t.Errorf("after the deletion there are the secrets %q", data)
	}
	if data, err := two.server.uploaded.Read(t.Context(), id+"/"+up.ID); err == nil {
		t.Errorf("after the deletion there is an upload of %d bytes", len(data))
	}
}
