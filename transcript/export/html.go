package export

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/internal/lexers"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageCSS string

// page is the template of the document. Everything inserted is escaped for its context, except the
// output of prose and highlighted, which escape it themselves.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"role":      func(role string) string { return roles[role] },
		"prose":     func(string) template.HTML { return "" },  // replaced for each document
		"highlight": func(listing) template.HTML { return "" }, // replaced for each document
		"summary":   func(t *tool) string { return t.summary() },
		"listings":  func(t *tool) []listing { return t.listings() },
		"picture":   picture,
		"indented":  func(s string) string { return indented([]byte(s)) },
	}).Parse(pageText))
})

// picture returns the data URL of an image in the document, or "" if browsers cannot show it.
func picture(p part) template.URL {
	switch p.Text {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return ""
	}
	if _, err := base64.StdEncoding.DecodeString(p.Data); err != nil || p.Data == "" {
		return ""
	}
	return template.URL("data:" + p.Text + ";base64," + p.Data)
}

// writeHTML writes the document. Its content security policy allows only its own style, named by
// its hash, and its embedded images: no scripts, no frames, no addresses.
func (d *document) writeHTML(w io.Writer) error {
	style := pageCSS + lexers.CSS
	sum := sha256.Sum256([]byte(style))
	policy := strings.Join([]string{
		"default-src 'none'", "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "img-src data:",
		"base-uri 'none'", "form-action 'none'",
	}, "; ")
	p, err := page().Clone()
	if err != nil {
		return err
	}
	r := newRendering(d.ctx)
	p.Funcs(template.FuncMap{"prose": r.prose, "highlight": r.highlighted})
	return p.Execute(w, struct {
		*document
		Policy string
		Style  template.CSS
	}{d, policy, template.CSS(style)})
}
