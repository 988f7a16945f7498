// Package lexers has the grammars of the languages that listings are highlighted in.
//
// The package of the same name in chroma reads all that it has when a program starts, which
// takes longer than the start of everything else. This one holds the grammars of languages
// in use, as they are there, and reads them when the first listing is highlighted. The
// grammars and the style are made by go generate from the pinned version of chroma; see
// chroma.license for their licence.
package lexers

import (
	"embed"
	"io/fs"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

//go:generate go run ./generate .

//go:embed grammars
var grammars embed.FS

// CSS is the style of highlighted code, light and dark.
//
//go:embed code.css
var CSS string

// registry has all grammars. What each consists of is read when it is used.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	paths, err := fs.Glob(grammars, "grammars/*.xml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, path := range paths {
		l := chroma.MustNewXMLLexer(grammars, path) // a test reads all of them
		if path == "grammars/phtml.xml" {
			all.Register(chroma.DelegatingLexer(all.Get("HTML"), l))
			continue
		}
		all.Register(l)
	}
	return all
})

// Get finds the grammar of a language by its name, one of its other names or the end of
// its files' names; it is nil for a language that is not known.
func Get(language string) chroma.Lexer { return registry().Get(language) }

// Match finds the grammar for a file by its name; it is nil where none fits.
func Match(file string) chroma.Lexer { return registry().Match(file) }
