package claude_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// mcpStates returns a CLI that reports the server states of the list, one element for
// each request.
func mcpStates(asked *int, states ...[]map[string]string) claudetest.Program {
	return func(cli *claudetest.CLI) int {
		cli.OnControl("mcp_status", func(claudetest.ControlRequest) (any, error) {
			i := min(*asked, len(states)-1)
			*asked++
			return map[string]any{"mcpServers": states[i]}, nil
		})
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		if _, err := cli.Prompt(); err == nil {
			cli.Turn("done")
		}
		<-cli.InputEnd()
		return 0
	}
}

func serverStatus(name, status string) map[string]string {
	return map[string]string{"name": name, "status": status}
}

func TestRequireMCP(t *testing.T) {
	failed := map[string]string{"name": "b", "status": "failed", "error": "no such program"}
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		states  [][]map[string]string
		want    string // in the error
		took    time.Duration
	}{
		{"at once", 0, [][]map[string]string{{serverStatus("a", "connected"), serverStatus("b", "connected")}}, "", 0},
		{"later", 0, [][]map[string]string{{serverStatus("a", "pending")}, {serverStatus("a", "connected"), serverStatus("b", "pending")}, {serverStatus("a", "connected"), serverStatus("b", "connected")}}, "", 60 * time.Millisecond},
		{"failed", 0, [][]map[string]string{{serverStatus("a", "connected"), failed}}, "b is failed (no such program)", 0},
		{"one failed, one pending", 0, [][]map[string]string{{serverStatus("a", "pending"), failed}, {serverStatus("a", "connected"), failed}}, "b is failed", 20 * time.Millisecond},
		{"never", 0, [][]map[string]string{{serverStatus("a", "pending"), serverStatus("b", "pending")}}, "a is pending, b is pending", 30 * time.Second},
		{"a mistake in a name", 0, [][]map[string]string{{serverStatus("a", "connected"), serverStatus("bb", "connected")}}, "b is missing", 1050 * time.Millisecond},
		{"known late", 0, [][]map[string]string{{serverStatus("a", "connected")}, {serverStatus("a", "connected"), serverStatus("b", "connected")}}, "", 20 * time.Millisecond},
		{"never, soon", time.Second, [][]map[string]string{{serverStatus("a", "connected"), serverStatus("b", "pending")}}, "b is pending", time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				opts := &claude.Options{RequireMCP: []string{"a", "b"}, Spawner: claudetest.InProcess(mcpStates(&asked, tt.states...)), Logger: slog.New(slog.DiscardHandler)}
				opts.MCPTimeout = tt.timeout
				begun := time.Now()
				c, err := claude.Connect(t.Context(), opts)
				if d := time.Since(begun); d != tt.took {
					t.Errorf("it took %v", d)
				}
				checkNotReady(t, err, tt.want)
				if err == nil {
					c.Close()
				}
				asked = 0
				result, err := claude.Run(t.Context(), "go", opts)
				checkNotReady(t, err, tt.want)
				if err == nil && result.Result != "done" {
					t.Errorf("%+v; want not (err == nil && result.Result != \"done\")", result)
				}
			})
		})
	}
}

func checkNotReady(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if e, ok := errors.AsType[*claude.MCPNotReadyError](err); !ok || !strings.Contains(e.Error(), want) || len(e.Servers) == 0 {
		t.Errorf("%v has no %q", err, want)
	}
}

// Without a timeout it waits until the caller's context ends.
func TestRequireMCPWithoutTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		opts := &claude.Options{RequireMCP: []string{"a"}, Spawner: claudetest.InProcess(mcpStates(&asked, []map[string]string{serverStatus("a", "pending")}))}
		opts.MCPTimeout = -1
		ctx, cancel := contextWithTimeout(t, 15*time.Minute)
		defer cancel()
		if _, err := claude.Connect(ctx, opts); !errors.Is(err, errEnough) {
			t.Error(err)
		}
		if asked < 3600 || asked > 3700 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// If the CLI dies meanwhile, the error reports that.
func TestRequireMCPAfterExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dies := claudetest.InProcess(func(cli *claudetest.CLI) int {
			cli.OnControl("mcp_status", func(claudetest.ControlRequest) (any, error) { return nil, claudetest.ErrNoAnswer })
			cli.Handshake()
			return 3
		})
		_, err := claude.Run(t.Context(), "go", &claude.Options{RequireMCP: []string{"a"}, Spawner: dies})
		if e, ok := errors.AsType[*claude.ExitError](err); !ok || e.Code != 3 {
			t.Errorf("%T %v; want ok and e.Code == 3", err, err)
		}
		if _, err := claude.Connect(t.Context(), &claude.Options{RequireMCP: []string{"a"}, Spawner: dies}); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%T %v; want err != nil and not errors.Is(err, io.EOF)", err, err)
		}
	})
}

var errEnough = errors.New("enough")

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(t.Context(), d, errEnough)
}
