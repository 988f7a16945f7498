package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
)

// codexProvider is Codex for a server, where its program is installed.
func (h place) codexProvider(logger *slog.Logger) (agent.Provider, func() error, error) {
	o := codex.Options{Path: os.Getenv("PARLEY_CODEX"), Env: h.env, Logger: logger, ClientVersion: claude.Version}
	path, err := o.Program()
	if errors.Is(err, codex.ErrNotFound) {
		return nil, nil, fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	if err != nil {
		return nil, nil, err
	}
	o.Path = path
	return &codexagent.Provider{Options: o}, func() error { return nil }, nil
}
