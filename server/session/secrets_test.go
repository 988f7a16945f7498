package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/blob"
)

// brokenBlobs is a store with calls that fail on demand.
type brokenBlobs struct {
	blob.Dir
	fail map[string]error // by the name of the call
}

func (b brokenBlobs) Read(ctx context.Context, name string) ([]byte, error) {
	if err := b.fail["Read"]; err != nil {
		return nil, err
	}
	return b.Dir.Read(ctx, name)
}

func (b brokenBlobs) Write(ctx context.Context, name string, data []byte) error {
	if err := b.fail["Write"]; err != nil {
		return err
	}
	return b.Dir.Write(ctx, name, data)
}

func (b brokenBlobs) Remove(ctx context.Context, name string) error {
	if err := b.fail["Remove"]; err != nil {
		return err
	}
	return b.Dir.Remove(ctx, name)
}

// withServers returns parameters with MCP servers.
func withServers(text string) *Opened {
	return &Opened{Params: api.ConnectParams{MCPServers: event.JSON(text), Agents: `{"b":2}`}}
}

// TestSecrets_replaced checks that secrets replace longer ones of the same session, of a call that has failed.
func TestSecrets_replaced(t *testing.T) {
	s, _ := memSessions(t)
	for _, text := range []string{`{"a":"` + strings.Repeat("x", 1000) + `"}`, `{"a":1}`} {
		o := withServers(text)
		if err := s.hideSecrets("s-1", o); err != nil {
			t.Fatal(err)
		}
		if got, err := s.withSecrets("s-1", o); err != nil || string(got.MCPServers) != text {
			t.Errorf("the MCP servers are %s, %v, want %s", got.MCPServers, err, text)
		}
	}
}

// TestSecrets_shared checks that a server of a cluster has the secrets of all servers, that it shares those from before the cluster, and that
// it loses none when a step fails.
func TestSecrets_shared(t *testing.T) {
	down := errors.New("the cluster does not answer")
	for name, tt := range map[string]struct {
		fail   string // the call of the shared store
		shared bool   // the secrets are in the shared store, not in a file of this server
		err    error
		file   bool // it is left
	}{
		"shared":                    {shared: true},
		"shared, not readable":      {shared: true, fail: "Read", err: down},
		"of this server":            {},
		"of this server, unshared":  {fail: "Write", err: down, file: true},
		"of this server, not known": {fail: "Read", err: down, file: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			b := brokenBlobs{blob.Dir(t.TempDir()), map[string]error{}}
			if tt.shared {
				s.opts.Secrets = b
			}
			o := withServers(`{"a":1}`)
			if err := s.hideSecrets("s-1", o); err != nil || !o.Secret || o.Params.MCPServers != "" || o.Params.Agents != "" {
				t.Fatalf("storing the secrets: %v; the log has %+v", err, o)
			}
			s.opts.Secrets = b
			b.fail[tt.fail] = down
			got, err := s.withSecrets("s-1", o)
			if !errors.Is(err, tt.err) || err == nil && (got.MCPServers != `{"a":1}` || got.Agents != `{"b":2}`) {
				t.Errorf("the parameters are %+v, %v, want all secrets, or %v", got, err, tt.err)
			}
			if _, err := os.Stat(filepath.Join(s.opts.SecretDir, "s-1")); errors.Is(err, fs.ErrNotExist) == tt.file {
				t.Errorf("the file of this server: %v, want that it exists: %v", err, tt.file)
			}
			clear(b.fail)
			if got, err := s.withSecrets("s-1", o); err != nil || got.MCPServers != `{"a":1}` || got.Agents != `{"b":2}` {
				t.Errorf("afterwards the parameters are %+v, %v, want all secrets", got, err)
			}
			b.fail["Remove"] = down
			if err := s.removeSecrets(t.Context(), "s-1"); !errors.Is(err, down) {
				t.Errorf("removing them without the cluster: %v, want %v", err, down)
			}
			clear(b.fail)
			if err := s.removeSecrets(t.Context(), "s-1"); err != nil {
				t.Errorf("removing them: %v", err)
			}
			if _, err := s.withSecrets("s-1", o); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after their removal: %v, want that they do not exist", err)
			}
		})
	}
	s, _ := memSessions(t)
	s.opts.Secrets = brokenBlobs{blob.Dir(t.TempDir()), map[string]error{"Write": down}}
	o := withServers(`{"a":1}`)
	if err := s.hideSecrets("s-1", o); !errors.Is(err, down) || o.Secret || o.Params.MCPServers == "" {
		t.Errorf("secrets that cannot be shared: %v, the log has %+v, want %v and the parameters unchanged", err, o, down)
	}
}
