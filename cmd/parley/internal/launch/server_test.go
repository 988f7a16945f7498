package launch

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/spf13/cobra"
)

// TestOpenOn checks that each flag for a new session on a server sets the parameter of its
// name.
func TestOpenOn(t *testing.T) {
	var got api.ConnectParams
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.URL.Path != "/v1/session.connect" {
			t.Errorf("%s: %v; want err == nil and r.URL.Path == \"/v1/session.connect\"", r.URL.Path, err)
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":{"code":-32000,"message":"no","data":{"reason":"conflict"}}}`))
	}))
	defer s.Close()
	c, err := client.New(client.Options{URL: s.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("work")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		want api.ConnectParams
	}{
		"none": {nil, api.ConnectParams{}},
		"all": {
			[]string{"--model=m", "--fallback-model=f", "--append-system-prompt=a", "--permission-mode=plan", "--allowed-tools=Read", "--disallowed-tools=Bash",
				"--max-turns=3", "--max-budget-usd=0.5", "--cwd=work", "--add-dir=/more"},
			api.ConnectParams{Model: "m", FallbackModel: "f", AppendSystemPrompt: "a", PermissionMode: "plan", AllowedTools: []string{"Read"}, DisallowedTools: []string{"Bash"},
				MaxTurns: 3, MaxBudgetUSD: new(0.5), CWD: dir, AdditionalDirectories: []string{"/more"}},
		},
		"system prompt": {[]string{"--system-prompt=s"}, api.ConnectParams{SystemPrompt: "s"}},
	} {
		f, cmd := &Flags{}, &cobra.Command{}
		f.Register(cmd)
		if err := cmd.ParseFlags(test.args); err != nil {
			t.Fatal(err)
		}
		got = api.ConnectParams{}
		if _, err := f.openOn(t.Context(), &serveragent.Provider{Client: c}); err == nil {
			t.Fatal("a session was opened that the server refuses")
		}
		got.Idempotency = api.Idempotency{}
		test.want.IncludePartialMessages = new(true)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
