package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/smalldisk"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestServe_fullDisk starts a server on a disk without a free byte. With new data it ends with the reason. With existing data it
// serves the sessions, reports that the disk is full, and refuses new sessions with the reason.
func TestServe_fullDisk(t *testing.T) {
	t.Setenv("PARLEY_SIM_PACE", "0")
	disk := smalldisk.Mount(t, 320) // more than the reserve
	dir := t.TempDir()
	flags := func() []string {
		return []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(string(disk), "data"), "--dir", dir, "--log-level", "error", "--agent", "sim", "--drain-timeout", "10ms"}
	}
	note := "less room than Parley leaves free"

	free := disk.Fill(t)
	if err := serveFlagsFor(t, flags()...).Serve(t.Context(), io.Discard); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), string(disk)) {
		t.Errorf("with new data the server ends with %v, want %v and the file", err, syscall.ENOSPC)
	}
	free()

	c, out, stop := serveUntil(t, serveFlagsFor(t, flags()...))
	if text := out.String(); strings.Contains(text, note) {
		t.Errorf("with room the server prints %q", text)
	}
	kept := connect(t, c)
	stop() // in the first turn

	free = disk.Fill(t)
	c, out, stop = serveUntil(t, serveFlagsFor(t, flags()...))
	if text := out.String(); !strings.Contains(text, note) {
		t.Errorf("on a full disk the server prints %q, want that it has no room", text)
	}
	checkKept(t, c, kept)
	if err := c.Call(t.Context(), "session.connect", api.ConnectParams{}, nil); client.Reason(err) != "limit_reached" {
		t.Errorf("on a full disk a new session is refused with %v, want limit_reached", err)
	}
	free() // otherwise a token that had room is not revoked
	stop()

	c, _, _ = serveUntil(t, serveFlagsFor(t, flags()...))
	checkKept(t, c, kept)
	connect(t, c)
}

// checkKept checks that a session is the only one in the list, undamaged, and has its prompt.
func checkKept(t *testing.T, c *client.Client, id string) {
	t.Helper()
	var list api.ListResult
	if err := c.Call(t.Context(), "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionID != id {
		t.Fatalf("the sessions are %+v, %v; want %s", list.Sessions, err, id)
	}
	if s := list.Sessions[0]; s.State == string(session.Failed) || s.Title != "hello" {
		t.Errorf("the session has the title %q and is %s, want hello and not %s", s.Title, s.State, session.Failed)
	}
	var history api.GetHistoryResult
	if err := c.Call(t.Context(), "session.getHistory", api.SessionRef{SessionID: id}, &history); err != nil || !strings.Contains(string(history.Conversation), "hello") {
		t.Errorf("the conversation is %s, %v; want one with the prompt", history.Conversation, err)
	}
}

// connect makes a session.
func connect(t *testing.T, c *client.Client) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	var r api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{InitialPrompt: "hello"}, &r); err != nil {
		t.Fatal(err)
	}
	return r.SessionID
}
