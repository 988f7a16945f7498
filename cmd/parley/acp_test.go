package main

import (
	"log/slog"
	"strings"
	"testing"
)

func TestACPProvider(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	logger := slog.New(slog.DiscardHandler)
	tests := []struct {
		flags acpFlags
		want  string // the provider's name, or part of the error
	}{
		{acpFlags{agent: "sim"}, "sim"},
		{acpFlags{agent: "acp:/bin/some-agent --acp"}, "acp:some-agent"},
		{acpFlags{agent: "acp:"}, "needs a command"},
		{acpFlags{agent: "nonsense"}, "claude, codex, sim or acp:COMMAND"},
		{acpFlags{server: "http://127.0.0.1:1/#token=x"}, "server"},
		{acpFlags{server: "http://127.0.0.1:1/#token=x", agent: "sim"}, "neither --agent"},
		{acpFlags{server: "http://127.0.0.1:1/#token=x", editorFiles: true}, "--editor-files goes with"},
		{acpFlags{agent: "sim", editorFiles: true}, "--editor-files goes with"},
		{acpFlags{server: "nowhere"}, "token"},
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
