package export

import (
	"bytes"
	"context"
	"html"
	"html/template"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/seed7221b0f9/parley/internal/lexers"
	"github.com/seed7221b0f9/parley/internal/mdlimit"
)

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.TabWidth(4))

// unstyled is an empty style: the colours are in the page's style sheet.
var unstyled = sync.OnceValue(func() *chroma.Style { return chroma.MustNewStyle("none", chroma.StyleEntries{}) })

// brackets returns the nesting depth of brackets. For each token a lexer takes time proportional to
// the number of open ones.
func brackets(text string) (deepest int) {
	depth := 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth--
		}
	}
	return deepest
}

func plainCode(text string) template.HTML {
	return template.HTML("<pre><code>" + html.EscapeString(text) + "</code></pre>")
}

// rendering is the state of rendering one page.
type rendering struct {
	ctx      context.Context
	markdown goldmark.Markdown
	slow     int // listings that took too long
}

// newRendering returns a Markdown renderer. HTML in the text is shown as text, an image becomes a
// link, and links send no referrer.
func newRendering(ctx context.Context) *rendering {
	r := &rendering{ctx: ctx}
	r.markdown = goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.TaskList),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{r}, 1))),
	)
	return r
}

// prose renders untrusted Markdown as HTML. The only error is that of the context.
func (r *rendering) prose(text string) (template.HTML, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if mdlimit.Exceeded(text) || r.markdown.Convert([]byte(text), &b) != nil {
		return plainCode(text), nil
	}
	return template.HTML(b.String()), nil
}

const (
	// maxHighlighted is the length in bytes up to which code is highlighted; lexers are slow on
	// longer code.
	maxHighlighted = 64 << 10
	// highlightTime limits the highlighting of one listing, and maxSlow the number of listings that
	// may exceed it before highlighting stops: a lexer uses expressions that can take very long on
	// crafted text.
	highlightTime = 250 * time.Millisecond
	maxSlow       = 3
)

// highlighted renders a listing as HTML: escaped, with classes for its tokens.
func (r *rendering) highlighted(l listing) (template.HTML, error) {
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	lexer := lexers.Get(l.Language)
	if l.Language == "" {
		lexer = lexers.Match(l.File)
	}
	if lexer == nil || len(l.Text) > maxHighlighted || brackets(l.Text) > maxIndented || r.slow >= maxSlow {
		return plainCode(l.Text), nil
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, l.Text)
	if err != nil {
		return plainCode(l.Text), nil
	}
	late := false
	until := time.Now().Add(highlightTime)
	timed := func() chroma.Token {
		if late = late || r.ctx.Err() != nil || time.Now().After(until); late {
			return chroma.EOF
		}
		return tokens()
	}
	var b strings.Builder
	err = formatter.Format(&b, unstyled(), timed)
	if err := r.ctx.Err(); err != nil {
		return "", err
	}
	if late {
		r.slow++
	}
	if late || err != nil {
		return plainCode(l.Text), nil
	}
	return template.HTML(b.String()), nil
}

// safeNodes renders the nodes that could load or run something.
type safeNodes struct{ of *rendering }

// RegisterFuncs registers the functions for these nodes.
func (s safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindImage, image)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindFencedCodeBlock, s.of.fencedCode)
}

func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) } // writes to memory

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

func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, resolved(n.(*ast.Link).Destination))
	} else {
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, resolved(n.(*ast.Image).Destination))
		write(w, "[image] ")
	} else {
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		a := n.(*ast.AutoLink)
		address := string(a.URL(source)) // autolinks have no entities
		if a.AutoLinkType == ast.AutoLinkEmail {
			address = "mailto:" + address
		}
		openLink(w, address)
		write(w, html.EscapeString(string(a.Label(source)))+"</a>")
	}
	return ast.WalkContinue, nil
}

func (r *rendering) fencedCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := n.(*ast.FencedCodeBlock)
		l := listing{Text: linesOf(block.Lines().Len(), block, source), Language: string(block.Language(source))}
		if l.Language == "" {
			write(w, string(plainCode(l.Text)))
		} else {
			code, err := r.highlighted(l)
			if err != nil {
				return ast.WalkStop, err
			}
			write(w, string(code))
		}
	}
	return ast.WalkSkipChildren, nil
}
