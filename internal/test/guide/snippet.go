// Package guide reads the code in the Markdown pages of the repository, so that tests can
// compile and run it.
//
// A page is a program in pieces. Every fence with the word go holds declarations, or a whole file that begins with a
// package clause; the suite with the real CLI puts the pieces of a page together as one package. A piece without imports
// gets the imports of the packages that it uses, like in an editor. Errors have the name and the lines of the page.
//
// A fence with the word sh holds commands that a test runs. Those that need a running server have the word server after
// sh, see [Snippet.Server]. If it must not be run, the word norun and a reason follow sh: [Snippet.NoRun] returns the
// reason.
package guide

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Snippet is one fenced block of a page.
type Snippet struct {
	Page string // its file, with slashes
	Line int    // of its first line of text, from 1
	Info string // the text after the fence, as in "go" or "sh norun: it serves"
	Text string // with the line feed of the last line
}

// Lang returns the first word after the fence, the language of the snippet.
func (s *Snippet) Lang() string {
	lang, _, _ := strings.Cut(s.Info, " ")
	return lang
}

// NoRun returns the reason why a test must not run the snippet, and whether it is marked so. A mark without a reason is a
// mistake in the page.
func (s *Snippet) NoRun() (reason string, ok bool) {
	_, rest, _ := strings.Cut(s.Info, " ")
	reason, ok = strings.CutPrefix(rest, "norun")
	return strings.TrimSpace(strings.TrimPrefix(reason, ":")), ok
}

// Server reports whether the commands of the snippet need a running server.
func (s *Snippet) Server() bool { return s.Info == "sh server" }

// Snippets returns the fenced blocks of a page in order. A block ends at a fence that is at least
// as long as its first one, or at the end of the page. Fences inside a list may be indented; their
// text keeps its indentation.
func Snippets(page, text string) []Snippet {
	var all []Snippet
	var open *Snippet
	number, length := 0, 0
	for line := range strings.Lines(text) {
		number++
		info := strings.TrimLeft(strings.TrimSpace(line), "`")
		ticks := len(strings.TrimSpace(line)) - len(info)
		switch {
		case open != nil && ticks >= length && info == "":
			all, open = append(all, *open), nil
		case open == nil && ticks >= 3:
			open, length = &Snippet{Page: page, Line: number + 1, Info: info}, ticks
		case open != nil:
			open.Text += line
		}
	}
	if open != nil {
		all = append(all, *open)
	}
	return all
}

// Pages returns the pages of the documentation below the root of the repository: the README and
// every Markdown file below docs, sorted by name.
func Pages(root fs.FS) ([]string, error) {
	pages := []string{"README.md"}
	err := fs.WalkDir(root, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && path.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	slices.Sort(pages)
	return pages, err
}

// Name returns a name for the package of a page: "hooks" for docs/guide/hooks.md.
func Name(page string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(page, "docs/"), "guide/"), ".md")
	return strings.ToLower(strings.NewReplacer("/", "", "-", "", "_", "").Replace(name))
}
