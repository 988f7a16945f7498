package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/docs"
	"github.com/seed7221b0f9/parley/internal/lexers"
)

//go:embed page.html style.css search.js
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "page.html"))

// policy allows a page its style sheet, its images and its search.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// view is the input of the template.
type view struct {
	*page
	Root     string // relative path to the site
	Groups   []group
	Previous *page
	Next     *page

	Search  bool // the page of the search
	Static  bool // a script answers the search
	Query   string
	Results []result
}

// Handler returns a handler that serves the site below prefix, which ends with a slash.
func Handler(prefix string) http.Handler {
	return http.StripPrefix(prefix, http.HandlerFunc(serve))
}

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the documentation is read with GET", http.StatusMethodNotAllowed)
		return
	}
	name := r.URL.Path
	if name == "" {
		name = index + ".html"
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	data, err := file(name, r.URL.Query().Get("q"), false)
	switch {
	case os.IsNotExist(err):
		w.WriteHeader(http.StatusNotFound)
		data, _ = file(index+".html", "", false) // if it fails, the body is empty
		h.Set("Content-Type", types[".html"])
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	default:
		h.Set("Content-Type", types[path.Ext(name)])
	}
	_, _ = w.Write(data) // the client is gone
}

// types are the types of the site's files.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".png": "image/png",
	".js": "text/javascript; charset=utf-8", ".json": "application/json",
}

// file returns a file of the site, or an error that is [fs.ErrNotExist].
func file(name, query string, static bool) ([]byte, error) {
	c, err := load()
	if err != nil {
		return nil, err
	}
	switch {
	case name == "style.css":
		css, err := assets.ReadFile(name)
		return append(css, lexers.CSS...), err
	case name == "search.html":
		v := &view{page: &page{Name: "search", Title: "Search"}, Search: true, Static: static, Query: query, Results: c.search(query)}
		return c.execute(v)
	case name == "search.js" && static:
		return assets.ReadFile(name)
	case name == "search.json" && static:
		return c.searchIndex()
	case path.Ext(name) == ".png":
		return docs.Files.ReadFile(name)
	}
	base, ok := strings.CutSuffix(name, ".html")
	if p := c.pages[base]; ok && p != nil {
		return c.execute(c.view(p))
	}
	return nil, fs.ErrNotExist
}

func (c *content) view(p *page) *view {
	v := &view{page: p}
	all := c.all()
	for i, q := range all {
		if q == p && i > 0 {
			v.Previous = all[i-1]
		}
		if q == p && i+1 < len(all) {
			v.Next = all[i+1]
		}
	}
	return v
}

func (c *content) execute(v *view) ([]byte, error) {
	v.Root, v.Groups = root(v.Name), c.groups
	var b bytes.Buffer
	err := layout.Execute(&b, v)
	return b.Bytes(), err
}

// searchIndex returns the sections as JSON.
func (c *content) searchIndex() ([]byte, error) {
	type entry struct{ Page, PageTitle, ID, Title, Text string }
	var all []entry
	for _, p := range c.all()[1:] {
		for _, s := range p.Sections {
			all = append(all, entry{p.Name, p.Title, s.ID, s.Title, s.Text})
		}
	}
	return json.Marshal(all)
}

// Write writes the site into a directory, which it creates.
func Write(dir string) error {
	c, err := load()
	if err != nil {
		return err
	}
	names := []string{"style.css", "search.html", "search.js", "search.json"}
	for name := range c.pages {
		names = append(names, name+".html")
	}
	images, err := fs.Glob(docs.Files, "screenshots/*.png")
	if err != nil {
		return err
	}
	for _, name := range append(names, images...) {
		data, err := file(name, "", true)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
