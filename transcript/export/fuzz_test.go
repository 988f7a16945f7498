package export_test

import (
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

// FuzzHTML exports a session with arbitrary text: the page has only allowed elements, attributes
// and addresses.
func FuzzHTML(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	for _, a := range badAddresses {
		f.Add("[x](<" + a + ">) <" + a + "> ![y](" + a + ")")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		s := writeSession(t, user(text))
		path := filepath.Join(dir, sessionID+".jsonl")
		if err := os.Rename(s.Path, path); err != nil {
			t.Fatal(err)
		}
		got := exported(t, transcript.File(path), export.HTML, nil)
		_, body, _ := strings.Cut(got, "<main>")
		for _, m := range tag.FindAllStringSubmatch(body, -1) {
			if !slices.Contains(elements, strings.ToLower(m[2])) {
				t.Errorf("element %s", m[0])
			}
		}
		for _, m := range href.FindAllStringSubmatch(body, -1) {
			to := strings.ToLower(html.UnescapeString(m[1]))
			if !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "mailto:") && !strings.HasPrefix(to, "#") {
				t.Errorf("a link to %q", to)
			}
		}
	})
}
