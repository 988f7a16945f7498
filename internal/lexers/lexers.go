// Package lexers has the grammars of the languages that listings are highlighted in.
//
// The package of the same name in chroma reads all grammars at program start, which takes longer
// than the rest of the start. This one holds unchanged copies of the grammars of common languages
// and reads them when the first listing is highlighted. go generate creates the grammars and the
// style from the pinned version of chroma; see chroma.license for their licence.
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

// registry holds all grammars. The rules of each are read on first use.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	archive, err := zip.NewReader(strings.NewReader(grammars), int64(len(grammars)))
	if err != nil {
		panic(err) // the archive is embedded
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

// Get returns the grammar of a language by its name, an alias or a file name extension, or nil if
// the language is unknown.
func Get(language string) chroma.Lexer { return registry().Get(language) }

// Match returns the grammar for a file name, or nil if no grammar matches.
func Match(file string) chroma.Lexer { return registry().Match(file) }
