package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
)

// tenantsDir is the directory of tenants below the data directory.
const tenantsDir = "tenants"

// checkTenants returns an error for an invalid --tenant-dir.
func (f *Settings) checkTenants() error {
	for _, text := range f.tenantDirs {
		if name, dir, ok := strings.Cut(text, "="); !ok || name == "" || !filepath.IsAbs(dir) {
			return term.Usagef("--tenant-dir %s: it is not NAME=DIR with an absolute directory", text)
		}
	}
	return nil
}

var plainTenant = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// tenantDir returns the directory of a tenant. A name that is not a valid directory name is
// hashed; a hash has a mark that plain names cannot have.
func (f *Settings) tenantDir(name string) string {
	for _, text := range f.tenantDirs {
		if given, dir, _ := strings.Cut(text, "="); given == name {
			return dir
		}
	}
	if !plainTenant.MatchString(name) {
		sum := sha256.Sum256([]byte(name))
		name = "~" + hex.EncodeToString(sum[:12])
	}
	return filepath.Join(f.Data, tenantsDir, name)
}

// tenantHome creates the directories of a tenant. The agents' configuration variables point
// there, regardless of the server's environment.
func (f *Settings) tenantHome(name string) (agents.Place, error) {
	h := agents.Place{Data: f.tenantDir(name), CLI: f.cli, Keep: f.keep}
	own := map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(h.Data, agents.Claude), "CODEX_HOME": filepath.Join(h.Data, agents.Codex)}
	h.Env = slices.DeleteFunc(f.home().Env, func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return own[variable] != ""
	})
	for _, variable := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if err := os.MkdirAll(own[variable], 0o700); err != nil {
			return agents.Place{}, err
		}
		h.Env = append(h.Env, variable+"="+own[variable])
	}
	return h, nil
}

// tenants returns the function with which the server opens a tenant: with the same agents,
// but separate files.
func (f *Settings) tenants(offered *agents.Set, store *eventlog.Store, logger *slog.Logger, traces trace.TracerProvider) func(string) (server.Tenant, error) {
	return func(name string) (server.Tenant, error) {
		h, err := f.tenantHome(name)
		if err != nil {
			return server.Tenant{}, err
		}
		if h.Copies, err = f.copies(context.Background(), name, store); err != nil {
			return server.Tenant{}, err
		}
		own, err := offered.Again(h, logger)
		traceAgents(own, traces)
		return server.Tenant{Providers: own, Env: h.Env}, err
	}
}
