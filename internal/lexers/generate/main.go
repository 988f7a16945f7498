// Command generate writes the grammars and the style of package lexers from the version of chroma
// in go.mod.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

const module = "github.com/alecthomas/chroma/v2"

// languages are the names of the grammars, as in chroma's file names. Grammars that they refer to
// are included.
const languages = `
	ada antlr apacheconf applescript arduino armasm awk bash bash_session batchfile bibtex bicep bnf c c# c++ cap_n_proto
	clojure cmake cobol coffeescript coq crystal css csv cue cython d dart desktop_entry diff django_jinja docker ebnf elixir
	elm erlang fish forth fortran fsharp gas gdscript gettext gherkin gleam glsl go_template graphql groff groovy handlebars
	haskell hcl hexdump hlsl html hy ini java javascript json jsonnet julia kdl kotlin lean llvm lua luau makefile mathematica
	matlab meson metal mlir mojo mysql nasm nginx_configuration_file nim nix nsis nu objective-c objectpascal ocaml octave odin
	org_mode perl php pl_pgsql plaintext postgresql_sql_dialect postscript powershell prolog promql properties
	protocol_buffer puppet python python_2 qml r racket react reasonml reg rego rpm_spec ruby rust sas sass scala scheme scss
	sed smalltalk smarty solidity sparql sql standard_ml stylus swift systemd systemverilog tablegen tcl terraform tex thrift
	toml transact-sql turtle twig txtpb typescript typst v vala vb_net verilog vhdl viml vue wat webgpu_shading_language xml
	yaml yang zig`

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate DIRECTORY")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(dir string) error {
	files := map[string][]byte{}
	text, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	source := strings.TrimSpace(string(text))
	if files["chroma.license"], err = os.ReadFile(filepath.Join(source, "COPYING")); err != nil {
		return err
	}
	if files["code.css"], err = css(); err != nil {
		return err
	}
	if err := errors.Join(copied(files, filepath.Join(source, "lexers", "embedded")), written(files)); err != nil {
		return err
	}
	if files["grammars.zip"], err = archive(files); err != nil {
		return err
	}
	for name, text := range files {
		if strings.HasPrefix(name, "grammars/") {
			continue // already in the archive
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archive packs the grammars into one file, without compression: the output of the compressor may differ between versions of Go.
func archive(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, "grammars/") {
			continue
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// css returns the style of highlighted code, light and dark.
func css() ([]byte, error) {
	f := chromahtml.New(chromahtml.WithClasses(true), chromahtml.TabWidth(4))
	var light, dark bytes.Buffer
	err := errors.Join(f.WriteCSS(&light, styles.Get("github")), f.WriteCSS(&dark, styles.Get("github-dark")))
	return []byte(light.String() + "@media (prefers-color-scheme: dark) {\n" + dark.String() + inherited(light.String(), dark.String()) + "}\n"), err
}

var coloured = regexp.MustCompile(`\.chroma (\.\w+) \{(?: |[^}]*; )color:`)

// inherited returns a rule for the classes with a colour in the light style alone, which would be dark on dark.
func inherited(light, dark string) string {
	var classes []string
	for _, m := range coloured.FindAllStringSubmatch(light, -1) {
		if !strings.Contains(dark, ".chroma "+m[1]+" { color:") {
			classes = append(classes, m[1])
		}
	}
	slices.Sort(classes)
	return ".chroma :is(" + strings.Join(classes, ", ") + ") { color: inherit }\n"
}

var (
	uses      = regexp.MustCompile(`<using lexer="([^"]+)"`)
	ownName   = regexp.MustCompile(`<name>([^<]+)</name>`)
	otherName = regexp.MustCompile(`<alias>([^<]+)</alias>`)
)

// copied adds the grammars that chroma has as data, with the grammars that they refer to.
func copied(files map[string][]byte, from string) error {
	all, err := filepath.Glob(filepath.Join(from, "*.xml"))
	if err != nil {
		return err
	}
	texts, byName := map[string][]byte{}, map[string]string{}
	for _, path := range all {
		file := strings.TrimSuffix(filepath.Base(path), ".xml")
		if texts[file], err = os.ReadFile(path); err != nil {
			return err
		}
		for _, m := range append(ownName.FindAllSubmatch(texts[file], 1), otherName.FindAllSubmatch(texts[file], -1)...) {
			byName[strings.ToLower(string(m[1]))] = file
		}
	}
	for want := strings.Fields(languages); len(want) > 0; want = want[1:] {
		file := want[0]
		name := "grammars/" + file + ".xml"
		if _, ok := files[name]; ok {
			continue
		}
		text, ok := texts[file]
		if !ok {
			return fmt.Errorf("chroma has no grammar %q", file)
		}
		files[name] = text
		for _, m := range uses.FindAllSubmatch(text, -1) {
			if used, ok := byName[strings.ToLower(string(m[1]))]; ok {
				want = append(want, used)
			}
		}
	}
	return nil
}

var state = regexp.MustCompile(`(?s)    <state .*?</state>\n`)

// ordered sorts the states of a grammar, which have no stable order, by name.
func ordered(text []byte) []byte {
	all := state.FindAllString(string(text), -1)
	slices.Sort(all)
	i := 0
	return state.ReplaceAllFunc(text, func([]byte) []byte {
		i++
		return []byte(all[i-1])
	})
}

// written adds the grammars that chroma has as code and that matter here.
func written(files map[string][]byte) error {
	golang, err := lexers.Get("Go").(*chroma.RegexLexer).Rules()
	if err != nil {
		return err
	}
	golang = golang.Clone()
	for i, rule := range golang["root"] {
		if rule.Pattern == "(`)([^`]*)(`)" { // its handling of templates in a text cannot be expressed as data
			golang["root"][i] = chroma.Rule{Pattern: "`[^`]*`", Type: chroma.LiteralString}
		}
	}
	inner := reflect.ValueOf(lexers.Get("markdown")).Elem().FieldByName("Lexer").Interface()
	markdown, err := inner.(*chroma.RegexLexer).Rules()
	if err != nil {
		return err
	}
	php, err := lexers.Get("PHP").(*chroma.RegexLexer).Rules()
	if err != nil {
		return err
	}
	phtml := php.Rename("root", "php").Merge(chroma.Rules{"root": {
		{Pattern: `<\?(php)?`, Type: chroma.CommentPreproc, Mutator: chroma.Push("php")},
		{Pattern: `[^<]+`, Type: chroma.Other},
		{Pattern: `<`, Type: chroma.Other},
	}})
	for name, rules := range map[string]chroma.Rules{"Go": golang, "markdown": markdown, "PHTML": phtml} {
		l, err := chroma.NewLexer(lexers.Get(name).Config(), func() chroma.Rules { return rules })
		if err != nil {
			return err
		}
		text, err := chroma.Marshal(l)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files["grammars/"+strings.ToLower(name)+".xml"] = append(ordered(text), '\n')
	}
	return nil
}
