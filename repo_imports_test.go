package parley_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The import rule, in the words of the design:
//
//	cmd → everything            acp → agent, ui, internal/jsonrpc            server → agent, rpc, ui, eventlog, web, workspace, contextref            client → rpc
//	claude/claudeagent → claude, claude/claudepool, transcript, claude/claudeevent, agent        codex/codexagent → codex, codex/rollout, codex/codexevent, agent
//	agent/simagent → claude/claudetest, claude/claudeagent        agent, rpc → ui        ui → internal/jsonwire
//	claude/claudeevent → claude/message, claude/tool, transcript, ui        codex/codexevent → codex/item, ui
//	claude/claudepool, claude/claudestore, claude/claudeotel, claude/claudetest → claude → claude/{tool,hook} → claude/message → internal/jsonwire
//	transcript → claude/message, internal/{claudedir,filelock,regular}        codex → codex/item        codex/rollout → codex/item
//	claude, codex → mcptool, spawn, internal/{control,jsonrpc} → internal/{ndjson,proc,jsonwire}
//
// A package may import what is to its right, at any distance. Everybody may import the
// standard library, unless noStd says otherwise. Test files are free of the rule.
type importRule struct {
	pkg     string   // below the module; x/... is x and all below it
	own     []string // the packages of this module that it may import
	modules []string // the other modules that it may import
	noStd   []string // the packages of the standard library that it may not import
}

const (
	mcpSDK     = "github.com/modelcontextprotocol/go-sdk"
	jsonSchema = "github.com/google/jsonschema-go"
	otel       = "go.opentelemetry.io/otel"
)

var (
	wire        = []string{"internal/ndjson", "internal/proc", "internal/jsonwire"}
	words       = []string{"claude/message", "claude/tool", "claude/hook"} // what the CLI says
	belowClaude = append([]string{"claude/message", "claude/tool", "claude/hook", "mcptool", "spawn", "internal/control", "internal/deadline", "internal/redact", "internal/filelock", "internal/claudedir", "internal/regular"}, wire...)
	belowUI     = append([]string{"claude"}, belowClaude...)
	// impure is what has I/O, a clock of its own or chance.
	impure = []string{"os/...", "net/...", "io/fs", "io/ioutil", "syscall", "log/...", "database/...", "path/filepath", "math/rand/...", "crypto/rand", "time"}
)

// importRules has a row for every package; the first that matches counts. A package that
// does not exist yet is not an error, one without a row is.
var importRules = []importRule{
	{pkg: "internal/ndjson"},
	{pkg: "internal/deadline"},
	{pkg: "internal/footprint"},
	{pkg: "internal/proc", own: []string{"spawn", "internal/regular"}},
	{pkg: "internal/jsonwire"},
	{pkg: "internal/redact"},
	{pkg: "internal/involved", modules: []string{"github.com/yuin/goldmark"}},
	{pkg: "internal/regular"},
	{pkg: "internal/filelock", own: []string{"internal/regular"}},
	{pkg: "internal/claudedir", modules: []string{"golang.org/x/text"}},
	{pkg: "internal/clipath"},
	{pkg: "internal/control", own: wire},
	{pkg: "internal/jsonrpc", own: []string{"internal/ndjson", "internal/jsonwire"}},
	{pkg: "internal/schema", own: wire, modules: []string{jsonSchema}},
	{pkg: "internal/schema/generate", own: []string{"internal/schema", "rpc", "ui", "internal/jsonwire"}, modules: []string{jsonSchema}}, // go generate runs it
	{pkg: "internal/schema/acpgen"}, // go generate runs it
	{pkg: "internal/sim", own: []string{"claude/...", "claudetest"}},
	{pkg: "internal/breakage"},   // test support
	{pkg: "internal/guide"},      // test support
	{pkg: "internal/nodefold"},   // test support
	{pkg: "internal/mutants"},    // make mutants runs it
	{pkg: "internal/crosscheck"}, // scripts/lint runs it
	{pkg: "internal/recording/...", own: []string{"..."}, modules: []string{mcpSDK, jsonSchema}},                 // test support
	{pkg: "internal/e2e/...", own: []string{"..."}, modules: []string{mcpSDK, jsonSchema, "go.uber.org/goleak"}}, // test support

	{pkg: "claude/message", own: []string{"internal/jsonwire"}},
	{pkg: "claude/tool", own: []string{"claude/message", "internal/jsonwire"}},
	{pkg: "claude/hook", own: []string{"claude/message", "internal/jsonwire"}},
	{pkg: "claude", own: belowClaude, modules: []string{mcpSDK, jsonSchema}},
	{pkg: "claudeotel", own: append([]string{"claude"}, words...), modules: []string{otel}},
	{pkg: "claudetest/...", own: []string{"claude/...", "claudestore", "claudetest/...", "mcptool", "spawn", "internal/..."}, modules: []string{mcpSDK, jsonSchema}},

	{pkg: "mcptool", own: []string{"internal/jsonwire"}, modules: []string{mcpSDK, jsonSchema}},
	{pkg: "spawn"},
	{pkg: "claudepool", own: []string{"claude", "claude/hook", "claude/message", "claude/tool", "spawn", "internal/deadline"}},
	{pkg: "claudestore", own: []string{"claude", "claude/message", "internal/filelock", "internal/regular", "internal/claudedir", "internal/ndjson"}},
	{pkg: "claudestore/s3", own: []string{"claude", "claude/message", "claudestore"}, modules: []string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}},
	{pkg: "claudestore/postgres", own: []string{"claude", "claude/message", "claudestore"}, modules: []string{"github.com/jackc/pgx/v5"}},

	{pkg: "transcript", own: belowUI, modules: []string{"golang.org/x/text"}},
	{
		pkg: "transcript/export", own: append([]string{"transcript", "internal/redact", "internal/involved", "transcript/export/internal/lexers"}, belowUI...),
		modules: []string{"github.com/alecthomas/chroma/v2", "github.com/yuin/goldmark"},
	},
	{pkg: "transcript/export/internal/lexers/...", modules: []string{"github.com/alecthomas/chroma/v2"}},
	{pkg: "transcript/usage", own: append([]string{"transcript"}, belowUI...)},
	{pkg: "codex/item", own: []string{"internal/jsonwire"}},
	{pkg: "codex/rollout", own: []string{"codex/item", "internal/jsonwire", "internal/ndjson", "internal/regular"}, modules: []string{"github.com/klauspost/compress"}},
	{pkg: "codex", own: append([]string{"codex/item", "spawn", "mcptool", "internal/jsonrpc"}, wire...), modules: []string{mcpSDK}},
	{pkg: "agent/internal/outbox", own: []string{"agent", "ui"}},
	{pkg: "agent/codexagent", own: []string{"agent", "agent/internal/outbox", "codex/...", "ui", "ui/codexui", "ui/prose", "internal/jsonwire", "internal/ndjson"}},
	{pkg: "agent/claudeagent", own: []string{"agent", "agent/internal/outbox", "claude/...", "claudepool", "transcript/...", "ui", "ui/claudeui", "internal/..."}},
	{pkg: "agent/simagent", own: []string{"agent", "agent/claudeagent", "claude/...", "claudetest", "spawn", "ui", "internal/regular", "internal/sim"}},
	{pkg: "acp", own: append([]string{"agent", "ui", "internal/jsonrpc", "internal/regular"}, wire...)},
	{pkg: "agent/acpagent", own: append([]string{"acp", "agent", "agent/internal/outbox", "ui", "ui/acpui", "spawn", "internal/jsonrpc", "internal/deadline"}, wire...)},
	{pkg: "agent/serveragent", own: []string{"agent", "agent/internal/outbox", "client", "rpc", "ui"}},
	{pkg: "ui/acpui", own: []string{"acp", "ui", "internal/jsonwire"}, noStd: impure},
	{pkg: "codextest", own: []string{"codex/...", "spawn", "internal/..."}},
	{pkg: "contextref"},
	{pkg: "docs"},

	{pkg: "ui", own: []string{"internal/jsonwire"}, noStd: impure},
	{pkg: "ui/prose", own: []string{"ui", "internal/jsonwire"}, noStd: impure},
	{pkg: "agent/handover", own: []string{"ui", "ui/prose", "internal/jsonwire"}, noStd: impure},
	{pkg: "ui/codexui", own: []string{"codex/item", "ui", "internal/jsonwire"}, noStd: impure},
	{pkg: "ui/claudeui", own: append([]string{"ui", "transcript"}, belowUI...), noStd: impure},
	{pkg: "rpc", own: []string{"ui", "internal/jsonwire"}},
	{pkg: "eventlog", modules: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"}},
	{pkg: "web"},
	{pkg: "workspace", own: []string{"internal/filelock", "internal/regular"}},
	{pkg: "agent", own: append([]string{"ui"}, belowUI...)},
	{pkg: "agent/agenttest", own: append([]string{"agent", "ui"}, belowUI...)},
	{
		pkg:     "server/...",
		own:     append([]string{"server/...", "agent", "rpc", "ui", "eventlog", "web", "workspace", "contextref", "webhook", "internal/regular", "internal/schema"}, wire...),
		modules: []string{"github.com/coder/websocket", "github.com/prometheus/client_golang", otel, jsonSchema},
	},
	{pkg: "webhook"},
	{pkg: "client", own: append([]string{"rpc", "ui"}, wire...), modules: []string{"github.com/coder/websocket"}},

	{pkg: "cmd/...", own: []string{"..."}, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", otel, "github.com/yuin/goldmark", "golang.org/x/term"}},
	{pkg: "bench/...", own: []string{"..."}, modules: []string{"..."}},
	{pkg: "."}, // the tests of the repository
}

// matches reports whether pattern, a path or x/..., covers the path p.
func matches(pattern, p string) bool {
	if pattern == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == prefix || strings.HasPrefix(p, prefix+"/")
	}
	return p == pattern
}

func anyMatches(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, p) })
}

// inModule returns the path of a package below this module, and whether it is in it.
func inModule(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// breach says what is wrong with the package pkg of this module importing importPath;
// empty if nothing is.
func (r importRule) breach(pkg, importPath string) string {
	own, isOwn := inModule(importPath)
	switch {
	case isOwn && matches("cmd/...", own) && !sameCommand(pkg, own):
		return fmt.Sprintf("%s imports %s: nothing imports cmd", pkg, own)
	case isOwn && !anyMatches(r.own, own):
		return fmt.Sprintf("%s imports %s: of this module it may import only %v", pkg, own, r.own)
	case isOwn:
	case isStd(importPath):
		if anyMatches(r.noStd, importPath) {
			return fmt.Sprintf("%s imports %s: it may not import any of %v", pkg, importPath, r.noStd)
		}
	case matches(otel+"/sdk/...", importPath) && !matches("cmd/...", pkg):
		return fmt.Sprintf("%s imports %s: which SDK is used is for the program to say", pkg, importPath)
	case !slices.ContainsFunc(r.modules, func(m string) bool { return m == "..." || matches(m+"/...", importPath) }):
		return fmt.Sprintf("%s imports %s: of other modules it may import only %v", pkg, importPath, r.modules)
	}
	return ""
}

// sameCommand reports whether two packages belong to the same command: cmd/x and
// what is below it.
func sameCommand(a, b string) bool {
	command := func(pkg string) string {
		parts := strings.SplitN(pkg, "/", 3)
		return strings.Join(parts[:min(len(parts), 2)], "/")
	}
	return matches("cmd/...", a) && command(a) == command(b)
}

// checkImports returns what is wrong with the imports of the package pkg of this module.
func checkImports(pkg string, imports []string) []string {
	i := slices.IndexFunc(importRules, func(r importRule) bool { return matches(r.pkg, pkg) })
	if i < 0 {
		return []string{fmt.Sprintf("%s has no row in importRules", pkg)}
	}
	var wrong []string
	for _, importPath := range imports {
		if s := importRules[i].breach(pkg, importPath); s != "" {
			wrong = append(wrong, s)
		}
	}
	return wrong
}

type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct {
		Path, Dir string
		Main      bool
	}
}

// goList returns what go list prints for a system. Packages that do not compile are listed
// as far as they can be read.
func goList(t *testing.T, goos string, args ...string) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-buildvcs=false", "-json=ImportPath,Standard,Imports,Module"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	var pkgs []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportRule(t *testing.T) {
	for _, goos := range systems {
		for _, p := range goList(t, goos, "./...") {
			pkg, _ := inModule(p.ImportPath)
			for _, wrong := range checkImports(pkg, p.Imports) {
				t.Errorf("%s: %s", goos, wrong)
			}
		}
	}
}

// TestClaudeDeps holds everything that is linked with the SDK to the standard library,
// this module's packages below it, and the MCP SDK with what that needs.
func TestClaudeDeps(t *testing.T) {
	if _, err := os.Stat("claude"); err != nil {
		t.Skip("there is no package claude")
	}
	allowed := append([]string{"claude"}, belowClaude...)
	for _, goos := range systems {
		// Packages that only the MCP SDK and the schema library reach are theirs.
		for _, p := range goList(t, goos, "-deps", "./claude") {
			own, isOwn := inModule(p.ImportPath)
			if !isOwn {
				continue
			}
			if !slices.Contains(allowed, own) {
				t.Errorf("%s: claude depends on %s: of this module it may only on %v", goos, own, allowed)
			}
			for _, wrong := range checkImports(own, p.Imports) {
				t.Errorf("%s: %s", goos, wrong)
			}
		}
	}
}

// lightPackages are those that a program can link without the SDK and what that needs.
var lightPackages = []string{"transcript", "transcript/usage", "ui", "ui/codexui", "rpc", "contextref", "codex/rollout", "claude/message", "claude/tool", "claude/hook"}

// heavy are the packages that no light one may link, directly or by way of others.
var heavy = []string{mcpSDK + "/...", "golang.org/x/oauth2/...", module + "/claude"}

// TestLightDeps holds everything that is linked with the light packages.
func TestLightDeps(t *testing.T) {
	for _, goos := range systems {
		for _, pkg := range lightPackages {
			deps := goList(t, goos, "-deps", "./"+pkg)
			if len(deps) < 2 {
				t.Fatalf("%s: go list -deps ./%s lists %d packages", goos, pkg, len(deps))
			}
			for _, p := range deps {
				if anyMatches(heavy, p.ImportPath) {
					t.Errorf("%s: %s depends on %s", goos, pkg, p.ImportPath)
				}
			}
		}
	}
}

func TestCheckImports(t *testing.T) {
	tests := []struct {
		pkg, imports string
		want         string // part of the complaint; empty for none
	}{
		{"internal/ndjson", "bufio", ""},
		{"internal/ndjson", module + "/internal/jsonwire", "imports internal/jsonwire"},
		{"internal/proc", "golang.org/x/sys/unix", "other modules"},
		{"internal/control", module + "/internal/proc", ""},
		{"internal/control", module + "/claude", "imports claude"},
		{"internal/e2e", module + "/claudetest", ""},
		{"internal/new", "os", "no row"},
		{"claude", mcpSDK + "/mcp", ""},
		{"claude", module + "/server", "imports server"},
		{"claude", otel, "other modules"},
		{"claudeotel", otel + "/trace", ""},
		{"claudeotel", otel + "/sdk/trace", "which SDK"},
		{"claudetest", module + "/internal/control", ""},
		{"claude", module + "/claudestore", "imports claudestore"},
		{"claudestore", "github.com/jackc/pgx/v5", "other modules"},
		{"claudestore/postgres", "github.com/jackc/pgx/v5/pgconn", ""},
		{"transcript/usage", module + "/transcript", ""},
		{"contextref", module + "/claude", "imports claude"},
		{"ui", module + "/claude", "imports claude"},
		{"ui", module + "/internal/jsonwire", ""},
		{"ui/claudeui", module + "/claude", ""},
		{"ui/claudeui", module + "/rpc", "imports rpc"},
		{"rpc", module + "/ui", ""},
		{"rpc", module + "/ui/claudeui", "imports ui/claudeui"},
		{"rpc", module + "/claude", "imports claude"},
		{"ui", "net/http", "imports net/http"},
		{"ui", "os", "imports os"},
		{"eventlog", module + "/claude", "imports claude"},
		{"eventlog", "github.com/nats-io/nats.go/jetstream", ""},
		{"server", module + "/claudetest", "imports claudetest"},
		{"cmd/parley", module + "/claudetest", ""},
		{"cmd/parley", module + "/cmd/other", "nothing imports cmd"},
		{"cmd/parley", module + "/cmd/parley/internal/table", ""},
		{"cmd/parley/internal/table", module + "/cmd/parley/internal/cell", ""},
		{"claude", module + "/cmd/parley/internal/cell", "nothing imports cmd"},
		{"bench", module + "/cmd/parley", "nothing imports cmd"},
	}
	for _, tt := range tests {
		got := strings.Join(checkImports(tt.pkg, []string{tt.imports}), "\n")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s importing %s: got %q, want %q", tt.pkg, tt.imports, got, tt.want)
		}
	}
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	copyleft    = regexp.MustCompile(`GNU (AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE`)
)

// licenceFault says what is wrong with the licence of the module in dir.
func licenceFault(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		// Other licences name these in lower case, as ones they are compatible with.
		if copyleft.Match(text) {
			return e.Name() + " is a copyleft licence", nil
		}
		found = true
	}
	if !found {
		return "there is no licence file", nil
	}
	return "", nil
}

func TestLicences(t *testing.T) {
	dirs := map[string]string{}
	for _, goos := range systems {
		for _, p := range goList(t, goos, "-deps", "./cmd/...") {
			if p.Module != nil && !p.Module.Main {
				dirs[p.Module.Path] = p.Module.Dir
			}
		}
	}
	for path, dir := range dirs {
		if dir == "" {
			t.Errorf("%s is linked into a command but not in the module cache", path)
			continue
		}
		fault, err := licenceFault(dir)
		if err != nil {
			t.Fatal(err)
		}
		if fault != "" {
			t.Errorf("%s is linked into a command: %s", path, fault)
		}
	}
}

func TestLicenceFault(t *testing.T) {
	dir := t.TempDir()
	check := func(want string) {
		t.Helper()
		if got, err := licenceFault(dir); err != nil || got != want {
			t.Errorf("licenceFault = %q, %v, want %q", got, err, want)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("there is no licence file")
	write("LICENSE.txt", "Mozilla Public License\n… the GNU General Public License, Version 2.0 …")
	check("")
	write("COPYING", "  GNU GENERAL PUBLIC LICENSE\n  Version 3")
	check("COPYING is a copyleft licence")
}
