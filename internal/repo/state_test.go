package repo

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stateRule describes a type whose state changes only inside update.
type stateRule struct {
	pkg   string   // below the module
	owner string   // the type with the method update
	state string   // the struct that update passes to its argument
	makes []string // the functions that may set fields of the owner before it is shared
}

var stateRules = []stateRule{
	{"claude/internal/control", "Mux", "state", []string{"New"}},
	{"claude", "session", "sessionState", []string{"newSession", "startSession", "Adopt"}},
	{"claude", "router", "routerState", []string{"newRouter", "newSession", "connect", "Adopt"}},
	{"claude", "mcpHost", "mcpHostState", nil},
}

// The state of a connection is in one struct that changes only inside update: only update
// accesses the struct in its owner, no field, variable or result keeps a pointer to it,
// and the owner's other fields are set only in its constructor.
func TestStateChangesInUpdate(t *testing.T) {
	checked := map[string]*checkedPackage{}
	for _, r := range stateRules {
		if checked[r.pkg] == nil {
			checked[r.pkg] = checkPackage(t, r.pkg)
		}
		for _, fault := range checked[r.pkg].stateFaults(r) {
			t.Error(fault)
		}
	}
}

// The rule detects its violations.
func TestStateRuleFindsFaults(t *testing.T) {
	const good = `package p
type state struct{ n int }
type owner struct { state state; name string }
func make_() *owner { o := &owner{}; o.name = "x"; o.state.n = 1; return o }
func (o *owner) update(f func(*state)) { f(&o.state) }
func (o *owner) fine() { o.update(func(s *state) { s.n++ }) }
`
	rule := stateRule{"p", "owner", "state", []string{"make_"}}
	for name, tt := range map[string]struct {
		more string
		want int
	}{
		"nothing":          {"", 0},
		"a write outside":  {"func (o *owner) bad() { o.state.n = 2 }", 1},
		"a read outside":   {"func (o *owner) bad() int { return o.state.n }", 1},
		"a field later":    {`func (o *owner) bad() { o.name = "y" }`, 1},
		"a field counted":  {"type other struct { owner }; func (o *other) bad() { o.owner.name += `y` }", 1},
		"a pointer kept":   {"type keeper struct { s *state }", 1},
		"a pointer global": {"var kept *state", 1},
		"a pointer given":  {"func bad() *state { return nil }", 1},
	} {
		c, err := checkSource(importer.Default(), map[string]string{"p.go": good + tt.more})
		if err != nil {
			t.Fatalf("name is %v, err is %v; want err == nil", name, err)
		}
		if got := c.stateFaults(rule); len(got) != tt.want {
			t.Errorf("%s: %q; want len(got) == tt.want", name, got)
		}
	}
}

// Options are input: no function of package claude writes a field of its options, and
// only launch.go writes the decisions of the start.
func TestOptionsAreNotWritten(t *testing.T) {
	c := checkPackage(t, "claude")
	for _, w := range c.writes() {
		switch file := filepath.Base(c.fset.Position(w.sel.Pos()).Filename); {
		case c.isType(w.sel.X, "launch") && file != "launch.go":
			t.Error(c.fault(w.sel, "writes a field of launch outside of launch.go"))
		case c.isType(w.sel.X, "Options") && !c.isOwnCopy(w.sel.X):
			t.Error(c.fault(w.sel, "writes a field of Options, which is the caller's or a launch's"))
		}
	}
}

// checkedPackage is a package without its tests, parsed and type-checked.
type checkedPackage struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

func checkPackage(t *testing.T, pkg string) *checkedPackage {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	listed, err := exec.Command("go", "list", "-f", `{{join .GoFiles "\n"}}`, "./"+pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !strings.Contains("\n"+string(listed), "\n"+filepath.Base(path)+"\n") {
			continue // a test, or a file of another system
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources[path] = string(text)
	}
	c, err := checkSource(exportImporter(t, pkg), sources)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exportImporter reads the types of imported packages from the compiler's export data.
func exportImporter(t *testing.T, pkg string) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range bytes.Lines(out) {
		path, file, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		exports[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

func checkSource(imp types.Importer, sources map[string]string) (*checkedPackage, error) {
	c := &checkedPackage{fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	for path, text := range sources {
		f, err := parser.ParseFile(c.fset, path, text, 0)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	conf := types.Config{Importer: imp}
	pkg, err := conf.Check("p", c.fset, c.files, c.info)
	c.pkg = pkg
	return c, err
}

func (c *checkedPackage) fault(n ast.Node, what string) string {
	return fmt.Sprintf("%s %s", c.fset.Position(n.Pos()), what)
}

// isType reports whether an expression is of a type of the package, or a pointer to it.
func (c *checkedPackage) isType(e ast.Expr, name string) bool {
	t := c.info.TypeOf(e)
	if t == nil {
		return false
	}
	return c.isNamed(t, name) || c.pointsTo(t, name)
}

func (c *checkedPackage) isNamed(t types.Type, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() == c.pkg && named.Obj().Name() == name
}

func (c *checkedPackage) pointsTo(t types.Type, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && c.isNamed(p.Elem(), name)
}

// isOwnCopy reports whether an expression is a local variable that is a value, not a
// pointer: a function may write its own copy.
func (c *checkedPackage) isOwnCopy(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := c.info.Uses[id].(*types.Var)
	return ok && v.Parent() != c.pkg.Scope() && !v.IsField() && c.isNamed(v.Type(), "Options")
}

// write is an assignment to a field, and the function that it is in.
type write struct {
	sel *ast.SelectorExpr
	in  *ast.FuncDecl
}

// writes returns all assignments to fields or parts of them.
func (c *checkedPackage) writes() (all []write) {
	c.each(func(in *ast.FuncDecl, n ast.Node) {
		var targets []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			targets = n.Lhs
		case *ast.IncDecStmt:
			targets = []ast.Expr{n.X}
		case *ast.RangeStmt:
			targets = []ast.Expr{n.Key, n.Value}
		}
		for _, e := range targets {
			for _, sel := range fieldsIn(e) {
				all = append(all, write{sel, in})
			}
		}
	})
	return all
}

// fieldsIn returns the fields that an assignment to e changes: a.b.c = x changes c of a.b
// and b of a; expressions after an index or a star count too.
func fieldsIn(e ast.Expr) (all []*ast.SelectorExpr) {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			all = append(all, x)
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return all
		}
	}
}

func (c *checkedPackage) each(f func(in *ast.FuncDecl, n ast.Node)) {
	for _, file := range c.files {
		for _, d := range file.Decls {
			in, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				if n != nil {
					f(in, n)
				}
				return true
			})
		}
	}
}

func (c *checkedPackage) stateFaults(r stateRule) (faults []string) {
	maker := func(in *ast.FuncDecl) bool {
		for _, name := range r.makes {
			if in != nil && in.Recv == nil && in.Name.Name == name {
				return true
			}
		}
		return false
	}
	c.each(func(in *ast.FuncDecl, n ast.Node) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			update := in != nil && in.Name.Name == "update" && in.Recv != nil && c.isType(in.Recv.List[0].Type, r.owner)
			if c.info.Selections[n] != nil && c.isType(n.X, r.owner) && c.isType(n, r.state) && !update && !maker(in) {
				faults = append(faults, c.fault(n, "reaches the state of "+r.owner+" outside of update"))
			}
		case *ast.Field:
			if c.pointsTo(c.info.TypeOf(n.Type), r.state) && !c.isParameter(n) {
				faults = append(faults, c.fault(n, "keeps or gives away a pointer to "+r.state))
			}
		case *ast.ValueSpec:
			if in == nil && n.Type != nil && c.pointsTo(c.info.TypeOf(n.Type), r.state) {
				faults = append(faults, c.fault(n, "keeps a pointer to "+r.state))
			}
		}
	})
	for _, w := range c.writes() {
		if c.isType(w.sel.X, r.owner) && !c.isType(w.sel, r.state) && !maker(w.in) {
			faults = append(faults, c.fault(w.sel, "writes a field of "+r.owner+" after it was made"))
		}
	}
	return faults
}

// isParameter reports whether a field is a parameter or a receiver, which do not outlive
// their function.
func (c *checkedPackage) isParameter(f *ast.Field) (yes bool) {
	c.each(func(_ *ast.FuncDecl, n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			yes = yes || holds(n.Recv, f)
		case *ast.FuncType:
			yes = yes || holds(n.Params, f)
		}
	})
	return yes
}

func holds(list *ast.FieldList, f *ast.Field) bool {
	if list == nil {
		return false
	}
	for _, x := range list.List {
		if x == f {
			return true
		}
	}
	return false
}
