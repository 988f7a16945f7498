package export

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/transcript/export/internal/lexers"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageCSS string

// page is the template of the document. Everything that goes in is escaped for
// where it stands, except what prose and highlighted made, which escape themselves.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"role":      func(role string) string { return roles[role] },
		"prose":     func(string) template.HTML { return "" },  // a document brings its own
		"highlight": func(listing) template.HTML { return "" }, // and this
		"summary":   func(t *tool) string { return t.summary() },
		"listings":  func(t *tool) []listing { return t.listings() },
		"picture":   picture,
		"indented":  func(s string) string { return indented([]byte(s)) },
	}).Parse(pageText))
})

// picture is the address of an image that is in the document itself; "" for what is
// no image that a browser shows.
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

// writeHTML writes the document. Its policy allows its own style, named by its hash,
// and the images in it, and nothing else: no script, no frame, no address.
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
