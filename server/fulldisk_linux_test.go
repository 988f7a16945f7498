package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/internal/test/smalldisk"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// fullDisk is a server whose data, directories and repository are on a small disk.
type fullDisk struct {
	*repoHarness
	disk smalldisk.Disk
}

func newFullDisk(t *testing.T, reserve int64) *fullDisk {
	t.Helper()
	disk := smalldisk.Mount(t, 96)
	t.Setenv("TMPDIR", string(disk))
	t.Setenv("GOTMPDIR", "")
	d := &fullDisk{newRepoHarness(t), disk}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	d.reserve = reserve
	d.start()
	return d
}

// fill fills the disk until free is called.
func (d *fullDisk) fill() (free func()) {
	d.Helper()
	return d.disk.Fill(d)
}

// shows returns the state that the server shows and that outlives it.
func (d *fullDisk) shows() map[string]string {
	d.Helper()
	all := map[string]string{}
	for _, method := range []string{"tokens.list", "webhooks.list", "budget.list", "workspace.list"} {
		result, e := d.post(method, api.Empty{})
		if e != nil {
			d.Fatalf("%s: %+v", method, e)
		}
		all[method] = string(result)
	}
	var list api.ListResult
	d.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		c := d.history(s.SessionID)
		var prompts []string
		for _, turn := range c.Turns {
			prompts = append(prompts, turn.ID)
		}
		var queue api.QueueListResult
		d.call("queue.list", api.SessionRef{SessionID: s.SessionID}, &queue)
		for _, item := range queue.Items {
			prompts = append(prompts, item.ID)
		}
		slices.Sort(prompts)
		all[s.SessionID] = fmt.Sprintf("archived %v, prompts %q", s.Archived, slices.Compact(prompts))
	}
	return all
}

// callAll calls every method with the objects of a scene. Each failure must have a text.
func (d *fullDisk) callAll(s scene, when string) {
	d.Helper()
	params := s.params()
	var names []string
	for _, m := range Methods() {
		if !slices.Contains(last, m.Name) && m.Name != "server.drain" {
			names = append(names, m.Name)
		}
	}
	for _, name := range append(names, last...) {
		p, ok := params[name]
		if !ok {
			p = json.RawMessage(fmt.Sprintf(`{"session_id":%q}`, s.session))
		}
		if result, e := d.post(name, p); e != nil && (e.Data.Reason == session.InternalError || strings.TrimSpace(e.Message) == "") {
			d.Errorf("%s %s: %s, %+v; want a result or a reason", name, when, result, e)
		}
	}
}

// TestFullDisk calls every method on a full disk: each works or returns the reason. The next server shows the same state, and with room again
// all methods work.
func TestFullDisk(t *testing.T) {
	short.SkipLong(t, "calls every method three times")
	for name, reserve := range map[string]int64{"with a reserve": 8 << 20, "without": -1} {
		t.Run(name, func(t *testing.T) {
			d := newFullDisk(t, reserve)
			ws, worked := d.workspace()
			d.turn(worked, func() { writeFile(t, filepath.Join(ws.Path, "b.txt"), "changed\n") })
			s := d.scene()
			free := d.fill()
			d.callAll(s, "on a full disk")
			for _, method := range []string{"workspace.diff", "workspace.commit", "workspace.revert", "workspace.branch", "workspace.merge", "session.fork", "review.comment"} {
				p := json.RawMessage(fmt.Sprintf(`{"session_id":%q,"message":"m","file":"b.txt","path":"b.txt","from":1,"text":"t"}`, worked))
				if result, e := d.post(method, p); e != nil && (e.Data.Reason == session.InternalError || strings.TrimSpace(e.Message) == "") {
					t.Errorf("%s of a worktree on a full disk: %s, %+v; want a result or a reason", method, result, e)
				}
			}
			before := d.shows()
			free()
			d.restart()
			after := d.shows()
			for what, want := range before {
				if after[what] != want {
					t.Errorf("on a full disk the server shows of %s\n%s\nand the next one shows\n%s", what, want, after[what])
				}
			}
			for what, text := range after {
				if _, ok := before[what]; !ok {
					t.Errorf("on a full disk the server does not show %s, and the next one shows\n%s", what, text)
				}
			}
			free = d.fill()
			if err := d.client(d.token).Call(d.ctx(), "tokens.create", api.TokensCreateParams{Role: "viewer"}, nil); err == nil && reserve < 0 {
				t.Error("a token is made on a full disk")
			}
			free()
			d.callAll(d.scene(), "with room again")
		})
	}
}

// TestRevoked_fullDisk ends tokens on a full disk in every way: they end at once, and the next server, on the full disk, refuses them.
func TestRevoked_fullDisk(t *testing.T) {
	d := newFullDisk(t, -1)
	tokens := d.server.tokens
	values, held := map[string]string{}, map[string]context.Context{}
	create := func(name, port string, tk token) token {
		tk.Port = port
		tk, value, err := tokens.create(tk, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if name == "logged out" {
			if value, _, err = tokens.exchange(value, port); err != nil {
				t.Fatal(err)
			}
		}
		p, err := tokens.check(value, port)
		if err != nil {
			t.Fatal(err)
		}
		ctx, release := tokens.hold(t.Context(), p)
		t.Cleanup(release)
		values[name], held[name] = value, ctx
		return tk
	}
	shown := d.connect()
	revoked := create("revoked", "", token{Role: "operator"})
	create("logged out", "", token{Role: "operator"})
	link := create("a link", "", token{Role: "viewer", Session: shown})
	create("printed", "7717", token{Role: "admin"})
	create("kept", "", token{Role: "viewer"})

	free := d.fill()
	d.call("tokens.revoke", api.TokensRevokeParams{ID: revoked.ID}, nil)
	d.call("share.revoke", api.ShareRevokeParams{ID: link.ID}, nil)
	out := d.request(func(r *http.Request) {
		r.Method, r.URL.Path = http.MethodPost, "/v1/logout"
		r.Header.Del("Authorization")
		r.Header.Set("Origin", d.url)
		r.AddCookie(&http.Cookie{Name: d.server.filter.cookie, Value: values["logged out"]})
	})
	if code, _, body := d.do(out); code != http.StatusOK {
		t.Errorf("the logout has the status %d, want 200: %s", code, body)
	}
	if err := d.server.EndPrinted(); err != nil {
		t.Errorf("the printed token is not revoked: %v", err)
	}
	check := func(when string) {
		t.Helper()
		for name, value := range values {
			port := ""
			if name == "printed" {
				port = "7717"
			}
			if _, err := d.server.tokens.check(value, port); (err == nil) != (name == "kept") {
				t.Errorf("%s: %s: the token is checked with %v; want %v, except for the one that is kept", when, name, err, errToken)
			}
		}
	}
	check("at once")
	for name, ctx := range held {
		if (ctx.Err() == nil) != (name == "kept") {
			t.Errorf("%s: the connection has ended with %v; want an end, except for the one that is kept", name, context.Cause(ctx))
		}
	}
	d.restart()
	check("after a restart on a full disk")
	free()
	d.restart()
	check("with room again")
}
