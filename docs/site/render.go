package site

import (
	"bytes"
	"errors"
	"html"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed7221b0f9/parley/docs"
	"github.com/seed7221b0f9/parley/internal/lexers"
)

// render renders a file of package docs.
func render(file string) (*page, error) {
	source, err := docs.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{file}, 1))),
	)
	tree := md.Parser().Parse(text.NewReader(source))
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == east.KindTable {
			n.SetAttributeString("tabindex", []byte("0")) // a wide one is scrolled with the keyboard
		}
	}
	p := &page{Name: nameOf(file)}
	p.Group = groupOf(p.Name)
	p.Sections = sections(tree, source)
	if len(p.Sections) == 0 {
		return nil, errors.New("no heading")
	}
	p.Title = p.Sections[0].Title
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, tree); err != nil {
		return nil, err
	}
	p.HTML = template.HTML(b.String())
	return p, nil
}

// sections splits a page at its headings.
func sections(tree ast.Node, source []byte) (all []section) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			s := section{Title: textOf(h, source)}
			if id, ok := h.AttributeString("id"); ok && len(all) > 0 {
				s.ID = string(id.([]byte))
			}
			all = append(all, s)
			continue
		}
		if len(all) > 0 {
			s := &all[len(all)-1]
			s.Text = strings.TrimSpace(s.Text + " " + textOf(n, source))
		}
	}
	return all
}

// textOf returns the text below a node, with single spaces.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.WriteString(lines(n, source))
			}
		default:
			if n.Type() == ast.TypeBlock && !entering {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return b.String()
}

// nodes renders links, images and code of a file.
type nodes struct{ file string }

// RegisterFuncs registers the functions for these nodes.
func (f nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, f.link)
	r.Register(ast.KindImage, f.image)
	r.Register(ast.KindFencedCodeBlock, f.code)
}

func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) } // writes to memory

// link renders a link. Files outside of the documentation have no address; their links become text.
func (f nodes) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address, ok := f.address(string(n.(*ast.Link).Destination))
	switch {
	case ok && entering:
		write(w, `<a href="`+html.EscapeString(address)+`">`)
	case ok:
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

// address returns the address of a link's target, relative to the page.
func (f nodes) address(destination string) (string, bool) {
	to, err := url.Parse(destination)
	if err != nil {
		return "", false
	}
	if to.IsAbs() || to.Path == "" {
		return destination, to.Scheme == "" || to.Scheme == "https" || to.Scheme == "http"
	}
	file := path.Join(path.Dir(f.file), to.Path)
	if _, err := fs.Stat(docs.Files, file); err != nil || path.Ext(file) != ".md" {
		return "", false
	}
	address := root(nameOf(f.file)) + nameOf(file) + ".html"
	if to.Fragment != "" {
		address += "#" + to.Fragment
	}
	return address, true
}

func (f nodes) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		file := path.Join(path.Dir(f.file), string(n.(*ast.Image).Destination))
		if _, err := fs.Stat(docs.Files, file); err != nil {
			return ast.WalkStop, err
		}
		write(w, `<img src="`+html.EscapeString(root(nameOf(f.file))+file)+`" alt="`+html.EscapeString(textOf(n, source))+`">`)
	}
	return ast.WalkSkipChildren, nil
}

var (
	formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.TabWidth(4), chromahtml.WithPreWrapper(scrollable{}))
	unstyled  = chroma.MustNewStyle("none", chroma.StyleEntries{}) // the style sheet has the colours
)

// scrollable makes listings focusable, because a wide one is scrolled with the keyboard.
type scrollable struct{}

func (scrollable) Start(bool, string) string { return `<pre class="chroma" tabindex="0"><code>` }
func (scrollable) End(bool) string           { return "</code></pre>" }

func (f nodes) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	listing := lines(n, source)
	lexer := lexers.Get(string(n.(*ast.FencedCodeBlock).Language(source)))
	if lexer == nil {
		write(w, `<pre tabindex="0"><code>`+html.EscapeString(listing)+"</code></pre>\n")
		return ast.WalkSkipChildren, nil
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, listing)
	if err != nil {
		return ast.WalkStop, err
	}
	return ast.WalkSkipChildren, formatter.Format(w, unstyled, tokens)
}
