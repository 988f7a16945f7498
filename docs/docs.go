// Package docs embeds the pages of this directory, so that the command can show them as help, as
// manual pages and as web pages without a network. There is no other copy of the pages.
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Files holds the pages and their images.
//
//go:embed *.md guide/*.md reference/*.md screenshots/usage-light.png screenshots/changes-light.png screenshots/review-dark.png
var Files embed.FS

// Topic is a guide.
type Topic struct {
	Name    string // the argument of parley help, as in "permissions"
	Title   string // the heading of the page
	Summary string // the first paragraph of the page, on one line
	Short   string // the items of the section "In short", one per line, without markup
	Page    string // the page below docs, as in "guide/permissions.md"
	Text    string // the whole page, Markdown
}

// renamed maps pages to the names of their topics, where the page name is also the name of a
// command.
var renamed = map[string]string{"sessions": "history"}

// Topics returns the topics, sorted by page. A page without the section "In short" is not a topic.
// The error names a page that has the section but lacks a heading, a first paragraph or the list;
// the tests of this package check that it is nil.
func Topics() ([]Topic, error) {
	pages, err := fs.Glob(Files, "guide/*.md")
	if err != nil {
		return nil, err
	}
	pages = append(pages, "operations.md")
	slices.SortFunc(pages, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	var topics []Topic
	for _, page := range pages {
		text, err := Files.ReadFile(page)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(text), inShort) {
			continue
		}
		t, err := parse(page, string(text))
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}

// inShort is the heading of the section from which topics are made.
const inShort = "\n## In short\n"

func parse(page, text string) (Topic, error) {
	name := strings.TrimSuffix(path.Base(page), path.Ext(page))
	t := Topic{Name: name, Page: page, Text: text}
	if other := renamed[name]; other != "" {
		t.Name = other
	}
	heading, rest, _ := strings.Cut(text, "\n")
	t.Title = strings.TrimPrefix(heading, "# ")
	summary, rest, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	t.Summary = plain(summary)
	_, short, found := strings.Cut("\n"+rest, inShort)
	short, _, _ = strings.Cut(strings.TrimSpace(short), "\n\n")
	if t.Title == heading || t.Summary == "" || !found || !strings.HasPrefix(short, "- ") {
		return t, fmt.Errorf("docs: %s needs a heading, a paragraph and a list under \"## In short\"", t.Page)
	}
	for point := range strings.SplitSeq("\n"+short, "\n- ") {
		if point != "" {
			t.Short += plain(point) + "\n"
		}
	}
	return t, nil
}

// plain returns a paragraph on one line and without its marks.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var b strings.Builder
	for text != "" {
		before, rest, ok := strings.Cut(text, "[")
		b.WriteString(before)
		label, after, isLink := strings.Cut(rest, "](")
		if !ok || !isLink || strings.ContainsAny(label, "[") {
			if ok {
				b.WriteString("[")
			}
			text = rest
			continue
		}
		_, text, _ = strings.Cut(after, ")")
		b.WriteString(label)
	}
	return strings.NewReplacer("`", "", "**", "").Replace(b.String())
}
