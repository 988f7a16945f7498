package site

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/docs"
)

func get(t *testing.T, address string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	Handler("/docs/").ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w
}

// names returns the addresses of all pages below the site.
func names(t *testing.T) (all []string) {
	t.Helper()
	err := fs.WalkDir(docs.Files, ".", func(file string, _ fs.DirEntry, err error) error {
		if path.Ext(file) == ".md" {
			all = append(all, nameOf(file)+".html")
		}
		return err
	})
	if err != nil || len(all) < 25 {
		t.Fatalf("%d pages, %v; want at least 25", len(all), err)
	}
	return all
}

var (
	linkPattern = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idPattern   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestLinks checks that every link of every page leads to a page, a heading or a file of the site, and
// that the sidebar lists every page.
func TestLinks(t *testing.T) {
	ids := map[string]map[string]bool{}
	bodies := map[string]string{}
	for _, name := range names(t) {
		w := get(t, "/docs/"+name)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("GET %s: status %d, type %q; want 200 and HTML", name, w.Code, w.Header().Get("Content-Type"))
		}
		bodies[name], ids[name] = w.Body.String(), map[string]bool{"": true}
		for _, m := range idPattern.FindAllStringSubmatch(bodies[name], -1) {
			ids[name][m[1]] = true
		}
	}
	listed := map[string]bool{"index.html": true}
	status := map[string]int{} // by target
	for name, body := range bodies {
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			to, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s: link %q: %v", name, m[1], err)
				continue
			}
			if to.IsAbs() {
				continue
			}
			target := name
			if to.Path != "" {
				target = path.Join(path.Dir(name), to.Path)
			}
			if status[target] == 0 {
				status[target] = get(t, "/docs/"+target).Code
			}
			if status[target] != http.StatusOK {
				t.Errorf("%s: link %q: status %d, want 200", name, m[1], status[target])
			}
			if ids[target] != nil && !ids[target][to.Fragment] {
				t.Errorf("%s: link %q: no heading %q", name, m[1], to.Fragment)
			}
			if name == "index.html" {
				listed[target] = true
			}
		}
	}
	for name := range bodies {
		if !listed[name] {
			t.Errorf("the sidebar does not list %s", name)
		}
	}
}

// TestSafe checks that a page loads and runs only files of the site, and that text from a request
// is escaped.
func TestSafe(t *testing.T) {
	w := get(t, "/docs/search.html?q="+url.QueryEscape(`"><script>alert(1)</script> permission`))
	if body := w.Body.String(); strings.Contains(body, "<script") || !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("the query is not escaped:\n%s", body)
	}
	if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "script-src") {
		t.Errorf("Content-Security-Policy is %q; want one without scripts", got)
	}
	for _, name := range []string{"search.js", "search.json", "../docs.go", "guide/permissions.md", "guide/../README.md", "nosuch.html", "guide/"} {
		if w := get(t, "/docs/"+name); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: status %d, want 404", name, w.Code)
		}
	}
	rec := httptest.NewRecorder()
	Handler("/docs/").ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/docs/index.html", nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d, want 405", rec.Code)
	}
}

func TestSearch(t *testing.T) {
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query string
		first string // the page of the first result; empty if there are no results
	}{
		{"permissions", "guide/permissions"},
		{"PERMISSIONS  plans", "guide/permissions"},
		{"webhooks", "webhooks"},
		{"orphan-timeout", "operations"},
		{"permission qzxv", ""},
		{"", ""},
		{strings.Repeat("é", 500), ""},
	} {
		t.Run(test.query[:min(len(test.query), 20)], func(t *testing.T) {
			found := c.search(test.query)
			first := ""
			if len(found) > 0 {
				first = found[0].Page.Name
			}
			if first != test.first {
				t.Errorf("the first result is on %q, want %q", first, test.first)
			}
			if len(found) > maxResults {
				t.Errorf("%d results, want at most %d", len(found), maxResults)
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, test := range []struct{ text, word, want string }{
		{"an <b> apple", "apple", "an &lt;b&gt; <mark>apple</mark>"},
		{"An Apple", "apple", "An <mark>Apple</mark>"},
		{long + "x" + long, "x", "… " + strings.Repeat("ä", 45) + "<mark>x</mark>" + strings.Repeat("ä", 45) + " …"},
		{"İx apple", "apple", "İx <mark>apple</mark>"},
		{"only in the title", "zzz", "only in the title"},
	} {
		if got := string(snippet(test.text, []string{test.word})); got != test.want {
			t.Errorf("snippet(%q, %q) = %q, want %q", test.text, test.word, got, test.want)
		}
	}
}

// TestWrite checks that the files equal the pages that the handler serves, except for the search.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names(t), "style.css", "screenshots/usage-light.png") {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if want := get(t, "/docs/"+name).Body.String(); err != nil || string(got) != want {
			t.Errorf("%s: %v, %d bytes; want the %d bytes of the handler", name, err, len(got), len(want))
		}
	}
	for _, name := range []string{"search.html", "search.js", "search.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is missing or empty: %v", name, err)
		}
	}
	if page, _ := os.ReadFile(filepath.Join(dir, "search.html")); !strings.Contains(string(page), `src="search.js"`) {
		t.Errorf("the page of the search has no script:\n%s", page)
	}
}
