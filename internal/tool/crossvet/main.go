// Command crossvet runs the analyzers of go vet on the packages below the current folder, tests included, as another
// system would compile them.
//
//	crossvet SYSTEM...
//
// It type-checks the dependencies from source. go vet compiles them for that system first, which takes ten times as long.
package main

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/scannererr"
	"golang.org/x/tools/go/analysis/passes/sqlrowserr"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	systems := os.Args[1:]
	if len(systems) == 0 {
		fmt.Fprintln(os.Stderr, "usage: crossvet SYSTEM...")
		os.Exit(2)
	}
	status := 0
	for _, system := range systems {
		found, err := check(".", system)
		if err != nil {
			found = append(found, err.Error())
		}
		for _, f := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, f)
			status = 1
		}
	}
	os.Exit(status)
}

// check returns the errors of the packages below dir on a system.
func check(dir, system string) ([]string, error) {
	config := &packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true,
	}
	pkgs, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("there are no packages")
	}
	found := typeErrors(pkgs)
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.IllTyped })
	graph, err := checker.Analyze(analyzers(), pkgs, nil)
	if err != nil {
		return found, err
	}
	found = append(found, diagnostics(graph)...)
	slices.Sort(found)
	return slices.Compact(found), nil // a package is analyzed alone and with its tests
}

// analyzers returns the analyzers that go vet runs. The suite contains two more, which go vet of Go 1.26 does not run.
func analyzers() []*analysis.Analyzer {
	return slices.DeleteFunc(slices.Clone(vet.Suite), func(a *analysis.Analyzer) bool {
		return a == scannererr.Analyzer || a == sqlrowserr.Analyzer
	})
}

// typeErrors returns the errors of packages and of their dependencies that prevent compiling.
func typeErrors(pkgs []*packages.Package) (found []string) {
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	})
	return found
}

// diagnostics returns the findings of the analyzers.
func diagnostics(graph *checker.Graph) (found []string) {
	for _, action := range graph.Roots {
		if action.Err != nil {
			found = append(found, fmt.Sprintf("%v: %v", action, action.Err))
		}
		for _, d := range action.Diagnostics {
			found = append(found, fmt.Sprintf("%v: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return found
}
