package site

import (
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/docs"
)

// page is a rendered page.
type page struct {
	Name     string // below the site, without an extension, as in "guide/permissions"
	Title    string
	Group    string
	HTML     template.HTML
	Sections []section
}

// section is a part of a page under a heading, as search finds it.
type section struct {
	ID    string // of the heading; empty before the second heading
	Title string
	Text  string // without markup
}

// group lists pages in the sidebar.
type group struct {
	Title string
	Pages []*page
}

// index is the name of the first page.
const index = "index"

// guideOrder is the order of the guides in the sidebar. Others follow by name.
var guideOrder = []string{"start", "any-agent", "conversations", "messages", "permissions", "hooks", "tools", "sessions", "stores", "production", "tracing", "screens", "server", "proxy", "workspaces", "preview", "editors", "codex", "testing", "security", "troubleshooting"}

// content is the rendered documentation.
type content struct {
	pages  map[string]*page
	groups []group
}

// load renders all pages, once.
var load = sync.OnceValues(func() (*content, error) {
	c := &content{pages: map[string]*page{}}
	err := fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		p, err := render(file)
		if err != nil {
			return fmt.Errorf("docs/%s: %w", file, err)
		}
		c.pages[p.Name] = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.group()
	return c, nil
})

// group fills the sidebar.
func (c *content) group() {
	for _, title := range []string{"Guides", "Server", "Reference"} {
		g := group{Title: title}
		for _, p := range c.pages {
			if p.Group == title {
				g.Pages = append(g.Pages, p)
			}
		}
		slices.SortFunc(g.Pages, func(a, b *page) int {
			return cmp.Or(cmp.Compare(position(a), position(b)), strings.Compare(a.Name, b.Name))
		})
		c.groups = append(c.groups, g)
	}
}

func position(p *page) int {
	if at := slices.Index(guideOrder, path.Base(p.Name)); at >= 0 && p.Group == "Guides" {
		return at
	}
	return len(guideOrder)
}

// all returns the pages in the order of the sidebar, the first page first.
func (c *content) all() []*page {
	all := []*page{c.pages[index]}
	for _, g := range c.groups {
		all = append(all, g.Pages...)
	}
	return all
}

// nameOf returns the name of the page of a file, as in "guide/permissions.md".
func nameOf(file string) string {
	if file == "README.md" {
		return index
	}
	return strings.TrimSuffix(file, ".md")
}

func groupOf(name string) string {
	switch path.Dir(name) {
	case "guide":
		return "Guides"
	case "reference":
		return "Reference"
	}
	if name == index {
		return ""
	}
	return "Server"
}

// root returns the relative path from a page to the site.
func root(name string) string { return strings.Repeat("../", strings.Count(name, "/")) }
