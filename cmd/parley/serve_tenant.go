package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server"
)

// tenantsDir is where tenants have their directories, below the data directory.
const tenantsDir = "tenants"

// checkTenants refuses a --tenant-dir that makes no sense.
func (f *serveFlags) checkTenants() error {
	for _, text := range f.tenantDirs {
		if name, dir, ok := strings.Cut(text, "="); !ok || name == "" || !filepath.IsAbs(dir) {
			return term.Usagef("--tenant-dir %s: it is not NAME=DIR with an absolute directory", text)
		}
	}
	return nil
}

var plainTenant = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// tenantDir is the directory of a tenant. A name that would not do for a directory is hashed;
// a hash has a mark that no plain name has.
func (f *serveFlags) tenantDir(name string) string {
	for _, text := range f.tenantDirs {
		if given, dir, _ := strings.Cut(text, "="); given == name {
			return dir
		}
	}
	if !plainTenant.MatchString(name) {
		sum := sha256.Sum256([]byte(name))
		name = "~" + hex.EncodeToString(sum[:12])
	}
	return filepath.Join(f.data, tenantsDir, name)
}

// tenantHome makes the directories of a tenant. What agents know their configuration by
// points there, whatever the server's own environment says.
func (f *serveFlags) tenantHome(name string) (place, error) {
	h := place{data: f.tenantDir(name)}
	own := map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(h.data, agentClaude), "CODEX_HOME": filepath.Join(h.data, agentCodex)}
	h.env = slices.DeleteFunc(f.home().env, func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return own[variable] != ""
	})
	for _, variable := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if err := os.MkdirAll(own[variable], 0o700); err != nil {
			return place{}, err
		}
		h.env = append(h.env, variable+"="+own[variable])
	}
	return h, nil
}

// tenants returns how the server opens a tenant: with the same agents as everyone, each with
// files of its own.
func (a *agents) tenants(f *serveFlags, logger *slog.Logger, traces trace.TracerProvider) func(string) (server.Tenant, error) {
	return func(name string) (server.Tenant, error) {
		h, err := f.tenantHome(name)
		if err != nil {
			return server.Tenant{}, err
		}
		var own agents
		for _, agent := range a.names {
			if err := own.add(h, agent, logger); err != nil {
				return server.Tenant{}, errors.Join(err, own.close())
			}
		}
		own.traceAgents(traces)
		a.keep(own.closers...)
		return server.Tenant{Providers: own.all, Env: h.env}, nil
	}
}
