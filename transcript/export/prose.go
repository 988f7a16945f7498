package export

import (
	"bytes"
	"html"
	"html/template"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// maxHighlighted is the length up to which code is highlighted; a lexer takes its
// time for more.
const maxHighlighted = 128 << 10

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.TabWidth(4))

// codeCSS is the style of highlighted code, light and dark.
var codeCSS = sync.OnceValue(func() string {
	var light, dark strings.Builder
	_ = formatter.WriteCSS(&light, styles.Get("github"))     // into memory
	_ = formatter.WriteCSS(&dark, styles.Get("github-dark")) // into memory
	return light.String() + "@media (prefers-color-scheme: dark) {\n" + dark.String() + "}\n"
})

// highlighted is a listing as HTML: escaped, with classes for its tokens.
func highlighted(l listing) template.HTML {
	lexer := lexers.Get(l.Language)
	if l.Language == "" {
		lexer = lexers.Match(l.File)
	}
	if lexer == nil || len(l.Text) > maxHighlighted {
		return plainCode(l.Text)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, l.Text)
	if err != nil {
		return plainCode(l.Text)
	}
	var b strings.Builder
	if formatter.Format(&b, styles.Fallback, tokens) != nil {
		return plainCode(l.Text)
	}
	return template.HTML(b.String())
}

func plainCode(text string) template.HTML {
	return template.HTML("<pre><code>" + html.EscapeString(text) + "</code></pre>")
}

// parser renders Markdown. HTML in the text is shown as the text that it is, an
// image is a link, a link says nothing of where it is followed from.
var parser = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{}, 1))),
	)
})

// prose is Markdown of others as HTML.
func prose(text string) template.HTML {
	var b bytes.Buffer
	if err := parser().Convert([]byte(text), &b); err != nil {
		return plainCode(text)
	}
	return template.HTML(b.String())
}

// safeNodes renders what could load or run something.
type safeNodes struct{}

// RegisterFuncs names the nodes.
func (safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindImage, image)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindFencedCodeBlock, fencedCode)
}

func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) } // into memory

func rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		for i := range n.(*ast.RawHTML).Segments.Len() {
			segment := n.(*ast.RawHTML).Segments.At(i)
			write(w, html.EscapeString(string(segment.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if entering {
		write(w, "<pre><code>"+html.EscapeString(linesOf(block.Lines().Len(), block, source)))
		return ast.WalkContinue, nil
	}
	if block.HasClosure() {
		write(w, html.EscapeString(string(block.ClosureLine.Value(source))))
	}
	write(w, "</code></pre>\n")
	return ast.WalkContinue, nil
}

func linesOf(n int, block ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n {
		segment := block.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return b.String()
}

// openLink opens a link, unless its address could run something.
func openLink(w util.BufWriter, address []byte) {
	if goldhtml.IsDangerousURL(address) {
		write(w, "<a>")
		return
	}
	write(w, `<a rel="noopener noreferrer nofollow" href="`+html.EscapeString(string(util.URLEscape(address, true)))+`">`)
}

func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, n.(*ast.Link).Destination)
	} else {
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, n.(*ast.Image).Destination)
		write(w, "[image] ")
	} else {
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		a := n.(*ast.AutoLink)
		address := a.URL(source)
		if a.AutoLinkType == ast.AutoLinkEmail {
			address = append([]byte("mailto:"), address...)
		}
		openLink(w, address)
		write(w, html.EscapeString(string(a.Label(source)))+"</a>")
	}
	return ast.WalkContinue, nil
}

func fencedCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := n.(*ast.FencedCodeBlock)
		l := listing{Text: linesOf(block.Lines().Len(), block, source), Language: string(block.Language(source))}
		if l.Language == "" {
			write(w, string(plainCode(l.Text)))
		} else {
			write(w, string(highlighted(l)))
		}
	}
	return ast.WalkSkipChildren, nil
}
