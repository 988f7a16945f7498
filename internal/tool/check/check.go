package main

import (
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/scannererr"
	"golang.org/x/tools/go/analysis/passes/sqlrowserr"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// check returns what is wrong in the packages below dir on a system.
func check(dir, system string, static bool) ([]string, error) {
	pkgs, found, err := load(dir, system)
	if err != nil {
		return nil, err
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool { return p.IllTyped })
	run := vetAnalyzers()
	if static {
		run = append(run, staticAnalyzers()...)
	}
	graph, err := checker.Analyze(run, pkgs, nil)
	if err != nil {
		return found, err
	}
	ignore := ignored(pkgs)
	for _, action := range graph.Roots {
		if action.Err != nil {
			found = append(found, fmt.Sprintf("%v: %v", action, action.Err))
		}
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			if !ignore.matches(at, action.Analyzer.Name) {
				found = append(found, fmt.Sprintf("%v: %s (%s)", at, d.Message, action.Analyzer.Name))
			}
		}
	}
	found = append(found, unusedIn(graph)...)
	slices.Sort(found)
	return slices.Compact(found), nil // a package is analyzed alone and with its tests
}

// vetAnalyzers returns the analyzers that go vet runs. The suite contains two more, which go vet of Go 1.26 does not run.
func vetAnalyzers() []*analysis.Analyzer {
	return slices.DeleteFunc(slices.Clone(vet.Suite), func(a *analysis.Analyzer) bool {
		return a == scannererr.Analyzer || a == sqlrowserr.Analyzer
	})
}

// staticAnalyzers returns the analyzers that Staticcheck runs without a configuration.
func staticAnalyzers() []*analysis.Analyzer {
	run := []*analysis.Analyzer{unused.Analyzer.Analyzer}
	for _, group := range [][]*lint.Analyzer{simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers} {
		for _, a := range group {
			if !a.Doc.NonDefault {
				run = append(run, a.Analyzer)
			}
		}
	}
	return run
}

// unusedIn returns the objects that neither their package nor its tests use.
func unusedIn(graph *checker.Graph) (found []string) {
	used, unusedAt := map[token.Position]bool{}, map[token.Position]unused.Object{}
	for _, action := range graph.Roots {
		result, ok := action.Result.(unused.Result)
		if !ok {
			continue
		}
		for _, o := range result.Used {
			used[o.Position] = true
		}
		for _, o := range result.Unused {
			unusedAt[o.Position] = o
		}
	}
	for at, o := range unusedAt {
		if !used[at] {
			found = append(found, fmt.Sprintf("%v: %s %s is unused (U1000)", o.DisplayPosition, o.Kind, o.Name))
		}
	}
	return found
}
