package main

import (
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
)

// place is a line of a file, or the whole file with line 0.
type place struct {
	file string
	line int
}

// ignores has the names of the analyzers that a comment excludes from a place.
type ignores map[place][]string

// ignored returns the places of the directives //lint:ignore and //lint:file-ignore.
func ignored(pkgs []*packages.Package) ignores {
	found := ignores{}
	for _, p := range pkgs {
		for _, d := range lint.ParseDirectives(p.Syntax, p.Fset) {
			if len(d.Arguments) < 2 { // the analyzers and a reason
				continue
			}
			at := p.Fset.Position(d.Node.Pos())
			switch d.Command {
			case "ignore":
			case "file-ignore":
				at.Line = 0
			default:
				continue
			}
			key := place{at.Filename, at.Line}
			found[key] = append(found[key], strings.Split(d.Arguments[0], ",")...)
		}
	}
	return found
}

// matches reports whether a comment excludes an analyzer from a position.
func (i ignores) matches(at token.Position, analyzer string) bool {
	return slices.Contains(i[place{at.Filename, at.Line}], analyzer) || slices.Contains(i[place{at.Filename, 0}], analyzer)
}
