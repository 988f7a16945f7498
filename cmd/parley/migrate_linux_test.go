package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// messages waits until a session has this number of turns, and returns the ids, roles and texts of its messages,
// one per line.
func (s *simServer) messages(session string, turns int64) (text string) {
	s.Helper()
	s.until(session, func(c *event.Conversation) bool {
		text = ""
		for _, i := range c.Threads[0].Items {
			if i.Message == nil {
				continue
			}
			text += i.Message.ID + " " + i.Message.UUID + " " + i.Message.Role
			for _, b := range i.Message.Blocks {
				text += fmt.Sprintf(" %s %q", b.Type, b.Text)
			}
			text += "\n"
		}
		return c.Totals.Turns >= turns
	})
	return text
}

// TestMigrate copies a data directory to a cluster and from there to another directory. On each
// side a server shows the same session, upload and token, and the session can be continued. The
// command refuses running servers and targets with other data; a dry run writes nothing.
func TestMigrate(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	nats := natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true}))
	s := newSimServer(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	migrate := func(code int, want string, args ...string) {
		t.Helper()
		out, complaints, got := s.start("", append([]string{"migrate", "--nats", nats, "--secret-key-file", secret}, args...)...).wait()
		if got != code || !strings.Contains(out+complaints, want) {
			t.Errorf("migrate %q: exit code %d, want %d with %q\n%s%s", args, got, code, want, out, complaints)
		}
	}
	id := s.talking("markdown", "idle")
	image := api.ImageUploadParams{SessionID: id, MediaType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))}
	var upload api.ImageUploadResult
	s.call("image.upload", image, &upload)
	var made api.TokensCreateResult
	s.call("tokens.create", api.TokensCreateParams{Name: "lasting", Role: "viewer"}, &made)
	turns := int64(1)
	before := s.messages(id, turns)
	migrate(term.ExitFailed, "in use", "--data", s.data, "cluster") // a server is running
	s.stop()

	migrate(term.ExitUsage, "the target is cluster or directory", "--data", s.data, "elsewhere")
	migrate(0, "Nothing was written", "--data", s.data, "--dry-run", "cluster")
	migrate(0, "1 uploads, 0 secrets, 1 tokens and 0 webhooks and subscriptions are the same on both sides; 2 were copied", "--data", s.data, "cluster")
	migrate(0, "0 messages were copied", "--data", s.data, "cluster") // again

	// check runs a server on one side and checks its data.
	check := func(flags ...string) {
		t.Helper()
		flags = append([]string{"--listen", "127.0.0.1:0", "--dir", s.dir, "--log-level", "error", "--agent", "sim"}, flags...)
		s.c, _, s.stop = serveUntil(t, serveFlagsFor(t, flags...))
		if got := s.messages(id, turns); got != before {
			t.Errorf("with %q the session has\n%s\nwant\n%s", flags, got, before)
		}
		address, _, _ := strings.Cut(s.c.URL(), "#")
		viewer, err := client.New(client.Options{URL: address, Token: made.Token})
		if err == nil {
			err = viewer.Call(t.Context(), "session.list", api.ListParams{}, nil)
		}
		if err != nil {
			t.Errorf("with %q the token: %v", flags, err)
		}
	}
	check("--data", s.data, "--nats", nats, "--secret-key-file", secret) // the agent remembers the conversation
	content := []event.JSON{event.JSON(`{"type":"image","source":{"type":"upload","id":"` + upload.ID + `"}}`), event.JSON(`{"type":"text","text":"think"}`)}
	s.call("session.queryWithContent", api.QueryWithContentParams{SessionID: id, Content: content}, nil)
	turns++
	before = s.messages(id, turns)
	back := filepath.Join(dir, "back")
	migrate(term.ExitFailed, "stop them first", "--data", back, "directory")
	s.stop()
	migrate(term.ExitFailed, "the target has other events", "--data", s.data, "directory") // it lacks a turn in the middle of others
	migrate(0, "1 uploads, 0 secrets, 1 tokens and 0 webhooks and subscriptions are the same on both sides", "--data", back, "directory")
	check("--data", back)
}
