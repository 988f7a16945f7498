// Package lexers has the grammars of the languages that listings are highlighted in.
//
// The package of the same name in chroma reads all that it has when a program starts, which
// takes longer than the start of everything else. This one holds the grammars of languages
// in use, as they are there, and reads them when the first listing is highlighted. The
// grammars and the style are made by go generate from the pinned version of chroma; see
// chroma.license for their licence.
package lexers

import (
	"archive/zip"
	_ "embed" // for the archive and the style
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

//go:generate go run ./generate .

// grammars is an archive of all grammars.
//
//go:embed grammars.zip
var grammars string

// CSS is the style of highlighted code, light and dark.
//
//go:embed code.css
var CSS string

// registry has all grammars. What each consists of is read when it is used.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	archive, err := zip.NewReader(strings.NewReader(grammars), int64(len(grammars)))
	if err != nil {
		panic(err) // it is a part of the program
	}
	for _, file := range archive.File { // in the order of their names
		path := file.Name
		l := chroma.MustNewXMLLexer(archive, path) // a test reads all of them
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
