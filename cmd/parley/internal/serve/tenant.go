package serve

import (
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
	"github.com/seed7221b0f9/parley/server"
)

// tenantsDir is where tenants have their directories, below the data directory.
const tenantsDir = "tenants"

// checkTenants refuses a --tenant-dir that makes no sense.
func (f *Settings) checkTenants() error {
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

// tenantHome makes the directories of a tenant. What agents know their configuration by
// points there, whatever the server's own environment says.
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

// tenants returns how the server opens a tenant: with the same agents as everyone, each with
// files of its own.
func (f *Settings) tenants(offered *agents.Set, logger *slog.Logger, traces trace.TracerProvider) func(string) (server.Tenant, error) {
	return func(name string) (server.Tenant, error) {
		h, err := f.tenantHome(name)
		if err != nil {
			return server.Tenant{}, err
		}
		own, err := offered.Again(h, logger)
		traceAgents(own, traces)
		return server.Tenant{Providers: own, Env: h.Env}, err
	}
}
