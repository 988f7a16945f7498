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

// TestRun_clients drives the official clients: their folded messages match those of the agent.
func TestRun_clients(t *testing.T) {
	modules := clientModules(t)
	for _, protocol := range []string{"agui", "aisdk"} {
		t.Run(protocol, func(t *testing.T) {
			h := newHarness(t)
			h.provider.Pause = time.Millisecond
			count := h.agui(aguiPrompt("count", "m1", "count 200")).all()
			node := exec.CommandContext(h.ctx(), "node", filepath.Join("testdata", "clients", "run.mjs"), modules, h.url, h.token, protocol)
			node.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
			var errs bytes.Buffer
			node.Stderr = &errs
			out, err := node.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, errs.Bytes())
			}
			var got map[string]folded
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
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
