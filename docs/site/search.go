package site

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxQuery   = 200 // bytes
	maxResults = 40
	// around is the length in bytes of the text on each side of a match.
	around = 90
)

// result is a section that matches a query.
type result struct {
	Page    *page
	Section section
	Snippet template.HTML
	score   int
}

// search returns the sections with all words of a query, the best first.
func (c *content) search(query string) []result {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var found []result
	for _, p := range c.all()[1:] { // the first page lists the others
		for _, s := range p.Sections {
			if score := s.score(p.Title, words); score > 0 {
				found = append(found, result{p, s, snippet(s.Text, words), score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b result) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), maxResults)]
}

// score returns 0 unless the section or the title of its page has all words.
func (s section) score(page string, words []string) (sum int) {
	page, title, text := strings.ToLower(page), strings.ToLower(s.Title), strings.ToLower(s.Text)
	for _, w := range words {
		n := min(strings.Count(text, w), 5)
		if strings.Contains(title, w) {
			n += 10
		}
		if strings.Contains(page, w) {
			n += 5
		}
		if n == 0 {
			return 0
		}
		sum += n
	}
	return sum
}

// snippet returns the text around the first match of a word, with the word marked.
func snippet(text string, words []string) template.HTML {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter changed its length: positions differ
		lower = text
	}
	for _, w := range words {
		at := strings.Index(lower, w)
		if at < 0 {
			continue
		}
		end := at + len(w)
		from, to := boundary(text, max(at-around, 0)), boundary(text, min(end+around, len(text)))
		b := template.HTMLEscapeString(text[from:at]) + "<mark>" + template.HTMLEscapeString(text[at:end]) + "</mark>" + template.HTMLEscapeString(text[end:to])
		if from > 0 {
			b = "… " + b
		}
		if to < len(text) {
			b += " …"
		}
		return template.HTML(b)
	}
	return template.HTML(template.HTMLEscapeString(text[:boundary(text, min(2*around, len(text)))]))
}

// boundary returns the start of the character at i.
func boundary(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
