package claude

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

func TestLogIsRedacted(t *testing.T) {
	var out bytes.Buffer
	opts := &Options{
		Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Env:    map[string]string{"MY_SERVICE_TOKEN": "plain-words-here", "SHORT_TOKEN": "abc"},
	}
	l := unchecked(opts).logger().With("with", "it is plain-words-here").WithGroup("g")
	l.Warn("the CLI says sk-ant-REDACTED", "error", errors.New("Authorization: Bearer abcdefghijklmnop"), "n", 3,
		"args", []string{"--settings", `{"env":{"DB_PASSWORD":"hunter2"}}`},
		slog.Group("sub", "env", "MY_SERVICE_TOKEN=plain-words-here"), "kept", "an abc of words")
	got := out.String()
	for _, secret := range []string{"plain-words-here", "sk-ant-api03", "abcdefghijklmnop", "hunter2"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is in %s", secret, got)
		}
	}
	for _, kept := range []string{"--settings", "g.n=3", "the CLI says", "an abc of words", "g.sub.env=", "with="} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is not in %s", kept, got)
		}
	}
}

func TestDebugLogOfAStart(t *testing.T) {
	var out bytes.Buffer
	opts := &Options{
		Logger:  slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Env:     map[string]string{"ANTHROPIC_API_KEY": "a-secret-value", "LANG": "C"},
		CLIPath: "claude",
		Spawner: spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
			return nil, errors.New("no a-secret-value here")
		}),

		CleanEnv: true,
	}
	if _, err := Connect(t.Context(), opts); err == nil {
		t.Fatal("no error")
	}
	got := out.String()
	if strings.Contains(got, "a-secret-value") || !strings.Contains(got, "--output-format") || !strings.Contains(got, "LANG=C") {
		t.Errorf("got is %v; want not strings.Contains(got, \"a-secret-value\") and strings.Contains(got, \"--output-format\") and strings.Contains(got, \"LANG=C\")", got)
	}
}
