package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// importRule is a line of imports.txt. All packages may import the standard library, unless the line is
// pure. Test files are exempt.
type importRule struct {
	pkg     string   // below the module; x/... means x and all below it
	own     []string // the packages of this module that it may import
	modules []string // the other modules that it may import
	pure    bool     // no I/O, no clock, no randomness
}

const (
	mcpSDK = "github.com/modelcontextprotocol/go-sdk"
	otel   = "go.opentelemetry.io/otel"
)

// impure are the standard packages that a pure package may not import.
var impure = []string{"os/...", "net/...", "io/fs", "io/ioutil", "syscall", "log/...", "database/...", "path/filepath", "math/rand/...", "crypto/rand", "time"}

const importTable = "internal/repo/imports.txt"

// readImportRules reads the table. A line has a package, a colon and its allowed imports; the path of
// another module has a dot in its first element.
func readImportRules(text string) (rules []importRule, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pkg, rest, ok := strings.Cut(line, ":")
		if !ok || slices.ContainsFunc(rules, func(r importRule) bool { return r.pkg == pkg }) {
			return nil, fmt.Errorf("invalid line, or a second one for its package: %q", line)
		}
		r := importRule{pkg: pkg}
		for name := range strings.FieldsSeq(rest) {
			switch {
			case name == "(pure)":
				r.pure = true
			case name == "...":
				r.own = append(r.own, name)
			case isStd(name):
				r.own = append(r.own, name)
			default:
				r.modules = append(r.modules, name)
			}
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func importRules(t *testing.T) []importRule {
	t.Helper()
	rules, err := readImportRules(string(readFile(t, importTable)))
	if err != nil {
		t.Fatal(err)
	}
	return rules
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

// inModule returns the path of a package relative to this module, and whether it belongs to the module.
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

// forbidden returns the reason why an import is never allowed, or "".
func forbidden(pkg, own string) string {
	product := !anyMatches([]string{"internal/test/...", "internal/tool/...", "bench/..."}, pkg)
	switch {
	case matches("cmd/...", own) && !sameCommand(pkg, own):
		return "nothing imports cmd"
	case product && anyMatches([]string{"internal/test/...", "internal/tool/...", "internal/repo", "bench/..."}, own):
		return "the product does not import its tests and tools"
	}
	return ""
}

// breach returns the reason why the package pkg of this module may not import importPath, or "".
func (r importRule) breach(pkg, importPath string) string {
	own, isOwn := inModule(importPath)
	switch {
	case isOwn && forbidden(pkg, own) != "":
		return fmt.Sprintf("%s imports %s: %s", pkg, own, forbidden(pkg, own))
	case isOwn && !anyMatches(r.own, own):
		return fmt.Sprintf("%s imports %s: of this module it may import only %v", pkg, own, r.own)
	case isOwn:
	case isStd(importPath):
		if r.pure && anyMatches(impure, importPath) {
			return fmt.Sprintf("%s imports %s: it may not import any of %v", pkg, importPath, impure)
		}
	case matches(otel+"/sdk/...", importPath) && !matches("cmd/...", pkg):
		return fmt.Sprintf("%s imports %s: the program chooses the SDK", pkg, importPath)
	case !slices.ContainsFunc(r.modules, func(m string) bool { return matches(m+"/...", importPath) }):
		return fmt.Sprintf("%s imports %s: of other modules it may import only %v", pkg, importPath, r.modules)
	}
	return ""
}

// sameCommand reports whether two packages belong to the same command: cmd/x and the packages below it.
func sameCommand(a, b string) bool {
	command := func(pkg string) string {
		parts := strings.SplitN(pkg, "/", 3)
		return strings.Join(parts[:min(len(parts), 2)], "/")
	}
	return matches("cmd/...", a) && command(a) == command(b)
}

// ruleOf returns the line for a package: an exact one, or the pattern that covers it.
func ruleOf(rules []importRule, pkg string) (importRule, bool) {
	i := slices.IndexFunc(rules, func(r importRule) bool { return r.pkg == pkg })
	if i < 0 {
		i = slices.IndexFunc(rules, func(r importRule) bool { return matches(r.pkg, pkg) })
	}
	if i < 0 {
		return importRule{}, false
	}
	return rules[i], true
}

// checkImports returns the imports of the package pkg of this module that the table does not allow.
func checkImports(rules []importRule, pkg string, imports []string) []string {
	r, ok := ruleOf(rules, pkg)
	if !ok {
		return []string{fmt.Sprintf("%s has no line in %s", pkg, importTable)}
	}
	var wrong []string
	for _, importPath := range imports {
		if s := r.breach(pkg, importPath); s != "" {
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

// goList returns the output of go list for a system. Packages that do not compile are included as far as
// they can be read.
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

// Every package imports only what its line allows, and every line is needed: its package exists and uses
// all allowed imports on some system.
func TestImportRule(t *testing.T) {
	rules := importRules(t)
	used := map[string][]string{} // by the package of the line
	for _, goos := range systems {
		for _, p := range goList(t, goos, "./...") {
			pkg, _ := inModule(p.ImportPath)
			for _, wrong := range checkImports(rules, pkg, p.Imports) {
				t.Errorf("%s: %s", goos, wrong)
			}
			if r, ok := ruleOf(rules, pkg); ok {
				used[r.pkg] = append(used[r.pkg], append(p.Imports, pkg)...)
			}
		}
	}
	for _, r := range rules {
		if len(used[r.pkg]) == 0 {
			t.Errorf("%s has a line for %s, which does not exist", importTable, r.pkg)
		}
		for _, pattern := range slices.Concat(r.own, r.modules) {
			if !slices.ContainsFunc(used[r.pkg], func(p string) bool {
				own, isOwn := inModule(p)
				return isOwn && matches(pattern, own) || !isOwn && matches(pattern+"/...", p)
			}) {
				t.Errorf("%s does not import %s: delete it from %s", r.pkg, pattern, importTable)
			}
		}
	}
}

// linkRules list packages that must not be linked into a package, directly or indirectly.
var linkRules = []struct {
	pkgs, never []string
}{
	// A program can link these without the SDK and its dependencies.
	{
		[]string{"transcript", "transcript/usage", "agent/event", "codex/codexevent", "server/api", "contextref", "codex/rollout", "claude/message", "claude/tool", "claude/hook"},
		[]string{mcpSDK + "/...", "golang.org/x/oauth2/...", module + "/claude"},
	},
	// The SDK needs no other part of the project.
	{[]string{"claude", "codex", "acp"}, []string{module + "/agent/agenttest", module + "/server/...", module + "/client/...", module + "/web", module + "/eventlog", otel + "/sdk/..."}},
	{[]string{"claude"}, []string{module + "/agent/...", module + "/codex/...", module + "/acp/...", module + "/transcript/..."}},
	{[]string{"codex"}, []string{module + "/agent/...", module + "/claude/...", module + "/acp/...", module + "/transcript/..."}},
	// The command links no test support.
	{[]string{"cmd/parley"}, []string{"testing/...", module + "/internal/test/...", module + "/internal/tool/...", module + "/agent/agenttest", module + "/claude/claudetest", module + "/codex/codextest", module + "/server/webpush/webpushtest", module + "/spawn/spawntest"}},
	// The host knows no agent and no server.
	{[]string{"host"}, []string{module + "/agent/...", module + "/claude/...", module + "/codex/...", module + "/acp/...", module + "/server/...", module + "/eventlog/...", "net/http"}},
	// The server runs any agent but links none. To editors it is an agent itself.
	{[]string{"server"}, []string{module + "/claude/...", module + "/codex/...", module + "/acp/acpagent", module + "/acp/acpevent"}},
}

func TestLinked(t *testing.T) {
	for _, r := range linkRules {
		for _, pkg := range r.pkgs {
			for _, goos := range systems {
				deps := goList(t, goos, "-deps", "./"+pkg)
				if len(deps) < 2 {
					t.Fatalf("%s: go list -deps ./%s lists %d packages", goos, pkg, len(deps))
				}
				for _, p := range deps {
					if p.ImportPath != module+"/"+pkg && anyMatches(r.never, p.ImportPath) {
						t.Errorf("%s: %s links %s", goos, pkg, p.ImportPath)
					}
				}
			}
		}
	}
}

func TestCheckImports(t *testing.T) {
	rules, err := readImportRules("# layers\na:\na/b: a c/... example.com/m (pure)\ncmd/...: ...\n\nserver: " + otel + "\ninternal/test/...: ...\n")
	if err != nil || len(rules) != 5 {
		t.Fatalf("rules is %v, err is %v; want err == nil and len(rules) == 5", rules, err)
	}
	tests := []struct {
		pkg, imports string
		want         string // part of the complaint; empty for no complaint
	}{
		{"a", "os", ""},
		{"a", module + "/a/b", "imports a/b"},
		{"a", "example.com/m", "other modules"},
		{"a/b", module + "/a", ""},
		{"a/b", module + "/c", ""},
		{"a/b", module + "/c/d", ""},
		{"a/b", module + "/cd", "imports cd"},
		{"a/b", "example.com/m/x", ""},
		{"a/b", "example.com/m2", "other modules"},
		{"a/b", "strings", ""},
		{"a/b", "os", "imports os"},
		{"a/b", "net/http", "imports net/http"},
		{"new", "os", "no line"},
		{"server", otel + "/trace", ""},
		{"server", otel + "/sdk/trace", "chooses the SDK"},
		{"cmd/x", module + "/a", ""},
		{"cmd/x", module + "/cmd/y", "nothing imports cmd"},
		{"cmd/x", module + "/cmd/x/internal/table", ""},
		{"cmd/x/internal/table", module + "/cmd/x/internal/cell", ""},
		{"cmd/x", module + "/internal/test/e2e", "does not import its tests"},
		{"cmd/x", module + "/internal/tool/gen", "does not import its tests"},
		{"internal/test/e2e", module + "/internal/test/guide", ""},
		{"internal/test/e2e", module + "/cmd/x", "nothing imports cmd"},
	}
	for _, tt := range tests {
		got := strings.Join(checkImports(rules, tt.pkg, []string{tt.imports}), "\n")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s importing %s: got %q, want %q", tt.pkg, tt.imports, got, tt.want)
		}
	}
	for _, text := range []string{"a", "a:\na: b"} {
		if _, err := readImportRules(text); err == nil {
			t.Errorf("the table %q is read", text)
		}
	}
}
