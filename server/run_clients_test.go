package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// clientModules returns the directory of the official clients, which scripts/install-peers installs
// for make test. If they are missing the test is skipped, and fails with CI=true.
func clientModules(t *testing.T) string {
	t.Helper()
	short.Skip(t, "node")
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("this test needs node: %v", err)
	}
	pin, err := os.ReadFile(filepath.Join("..", "bench", "clients", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			missing("this test needs the clients, and there is no cache directory: %v", err)
		}
		cache = filepath.Join(user, "parley")
	}
	sum := sha256.Sum256(pin)
	dir := filepath.Join(cache, "bench-clients-"+hex.EncodeToString(sum[:])[:12])
	if _, err := os.Stat(filepath.Join(dir, "installed")); err != nil {
		missing("this test needs the clients, run scripts/install-peers clients: %v", err)
	}
	return filepath.Join(dir, "node_modules")
}

// folded is the state of a client for a thread.
type folded struct {
	Outcome        string
	Text           string
	Tools, Results []string
}

// runClient runs a program of testdata/clients and returns the output of each of its scenes.
func (h *harness) runClient(name string, args ...string) (got map[string]folded) {
	h.Helper()
	node := exec.CommandContext(h.ctx(), "node", append([]string{filepath.Join("testdata", "clients", name)}, args...)...)
	node.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.TempDir()}
	var errs bytes.Buffer
	node.Stderr = &errs
	out, err := node.Output()
	if err != nil {
		h.Fatalf("%v: %s", err, errs.Bytes())
	}
	if err := json.Unmarshal(out, &got); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
	return got
}

// TestACP_clients drives the official client of ACP over both transports.
func TestACP_clients(t *testing.T) {
	modules := clientModules(t)
	for _, transport := range []string{"http", "ws"} {
		t.Run(transport, func(t *testing.T) {
			h := newHarness(t)
			h.provider.Pause = time.Millisecond
			count := h.agui(aguiPrompt("count", "m1", "count 200")).all()
			got := h.runClient("acp.mjs", modules, h.url, h.token, transport, filepath.Join(h.dir, "work"))
			call := []string{`Bash {"command":"echo done"}`}
			want := map[string]folded{
				"text":       {"end_turn", "hello from the agent", []string{}, []string{}},
				"tool":       {"end_turn", "I have used Bash.", call, []string{"completed"}},
				"allow":      {"end_turn", "I have used Bash.", call, []string{"completed"}},
				"reject":     {"end_turn", "I was not allowed to.", call, []string{"failed"}},
				"cancel":     {"cancelled", "", []string{}, []string{}},
				"reconnect":  {"end_turn", count, []string{}, []string{}},
				"complaints": {"", "", []string{}, []string{}},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the client shows (-want +got):\n%s", d)
			}
		})
	}
}

// TestRun_clients drives the official clients: their folded messages match those of the agent.
func TestRun_clients(t *testing.T) {
	modules := clientModules(t)
	for _, protocol := range []string{"agui", "aisdk"} {
		t.Run(protocol, func(t *testing.T) {
			h := newHarness(t)
			h.provider.Pause = time.Millisecond
			count := h.agui(aguiPrompt("count", "m1", "count 200")).all()
			got := h.runClient("run.mjs", modules, h.url, h.token, protocol)
			call := []string{`Bash {"command":"echo done"}`}
			want := map[string]folded{
				"text":      {"success", "hello from the agent", []string{}, []string{}},
				"tool":      {"success", "I have used Bash.", call, []string{"done"}},
				"allow":     {"success", "I have used Bash.", call, []string{"done"}},
				"reject":    {"success", "I was not allowed to.", call, []string{"denied: "}},
				"cancel":    {"cancelled", got["cancel"].Text, []string{}, []string{}},
				"reconnect": {"success", count, []string{}, []string{}},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the client shows (-want +got):\n%s", d)
			}
		})
	}
}
