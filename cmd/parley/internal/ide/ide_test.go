package ide

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

// TestDropPlaceholders checks that values that cannot be keys are dropped and other values are kept.
func TestDropPlaceholders(t *testing.T) {
	t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
	t.Setenv("ANTHROPIC_API_KEY", "a key")
	dropPlaceholders()
	if v, ok := os.LookupEnv("CLAUDE_CODE_OAUTH_TOKEN"); ok {
		t.Errorf("the name of the variable is passed on as a token: %q", v)
	}
	if os.Getenv("ANTHROPIC_API_KEY") != "a key" {
		t.Error("a key was dropped")
	}
}

func TestProvider(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	logger := slog.New(slog.DiscardHandler)
	tests := []struct {
		flags Flags
		want  string // the provider's name, or part of the error
	}{
		{Flags{agent: "sim"}, "sim"},
		{Flags{agent: "acp:/bin/some-agent --acp"}, "acp:some-agent"},
		{Flags{agent: "acp:"}, "needs a command"},
		{Flags{agent: "nonsense"}, "claude, codex, sim, acp:COMMAND"},
		{Flags{server: "http://127.0.0.1:1/#token=x"}, "server"},
		{Flags{server: "http://127.0.0.1:1/#token=x", agent: "sim"}, "neither --agent"},
		{Flags{server: "http://127.0.0.1:1/#token=x", editorFiles: true}, "--editor-files goes with"},
		{Flags{agent: "sim", editorFiles: true}, "--editor-files goes with"},
		{Flags{server: "nowhere"}, "token"},
	}
	for _, tt := range tests {
		p, err := tt.flags.provider(logger)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = p.Name()
		}
		if !strings.Contains(got, tt.want) || (err == nil) != !strings.Contains(tt.want, " ") && tt.want != "token" {
			t.Errorf("%+v: got %q, want %q", tt.flags, got, tt.want)
		}
	}
}
