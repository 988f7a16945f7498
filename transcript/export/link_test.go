package export_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript/export"
)

// badAddresses are addresses that a page must not link to, in several spellings.
var badAddresses = []string{
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", "&#106;avascript:alert(1)", "&#x6a;avascript:alert(1)", "&#x006A;avascript&#58;alert(1)",
	"javascript&colon;alert(1)", "java&Tab;script:alert(1)", "java&NewLine;script:alert(1)", "&Tab;javascript:alert(1)", "java&#9;script:alert(1)",
	"java&#10;script:alert(1)", "java&#13;script:alert(1)", "&#1;javascript:alert(1)", "&#14;javascript:alert(1)", "java&#0;script:alert(1)",
	"java\\script:alert(1)", "javascript\\:alert(1)", "\u0001javascript:alert(1)", "java\u00adscript:alert(1)", "\u200bjavascript:alert(1)",
	"java&shy;script:alert(1)", "javascript&#x3a;alert(1)", "javascript%3Aalert(1)", "%6aavascript:alert(1)", "vbscript:msgbox(1)", "VBScript:x", "vb&#115;cript:x",
	"data:text/html,<b>", "data:text/html;base64,PHNjcmlwdD4=", "dat&#97;:text/html,x", "data:image/svg+xml;base64,PHN2Zz4=", "data:image/png;base64,AAAA",
	"//evil.example/x", "&#47;/evil.example", "\\\\evil.example", "/\\evil.example", "&bsol;&bsol;evil.example", "/&bsol;evil.example",
	"file:///etc/passwd", "blob:x", "ftp://x/", "view-source:x", "about:blank", "filesystem:x", "ws://x", "tel:1", "jar:x", "http:evil", "http:", "https:///x",
	"x.html", "/etc/passwd", "../x", "?x=1", ".", "", "unknown:x", "mailto:",
}

// goodAddresses are addresses that stay links, with their resolved form.
var goodAddresses = map[string]string{
	"https://example.com/a?b=1&amp;c=2#d": "https://example.com/a?b=1&c=2#d", "http://example.com": "http://example.com",
	"HTTPS://example.com/": "HTTPS://example.com/", "mailto:a@example.com": "mailto:a@example.com", "#section": "#section",
	"https://example.com/&#x6a;": "https://example.com/j", "https&#58;//example.com": "https://example.com",
}

var href = regexp.MustCompile(`href="([^"]*)"`)

// links returns the addresses of all links of a page, as a browser sees them.
func links(t *testing.T, markdown string) (found []string) {
	t.Helper()
	page := exported(t, writeSession(t, user("see "+markdown)), export.HTML, nil)
	_, body, _ := strings.Cut(page, "<main>")
	for _, m := range href.FindAllStringSubmatch(body, -1) {
		found = append(found, html.UnescapeString(m[1]))
	}
	return found
}

// forms are the ways to write a link.
var forms = map[string]func(address string) string{
	"link":       func(a string) string { return "[x](" + a + ")" },
	"in angles":  func(a string) string { return "[x](<" + a + ">)" },
	"with title": func(a string) string { return "[x](<" + a + "> \"title\")" },
	"image":      func(a string) string { return "![x](<" + a + ">)" },
	"reference":  func(a string) string { return "[x][r]\n\n[r]: <" + a + ">" },
	"picture":    func(a string) string { return "![x][r]\n\n[r]: <" + a + ">" },
	"autolink":   func(a string) string { return "<" + a + ">" },
	"bare":       func(a string) string { return a },
	"raw HTML":   func(a string) string { return "<a href=\"" + a + "\">x</a><img src=\"" + a + "\">" },
	"HTML block": func(a string) string { return "\n\n<div>\n<a href='" + a + "'>x</a>\n</div>" },
	"with tab":   func(a string) string { return "[x](<" + strings.Replace(a, "s", "s\t", 1) + ">)" },
	"with feed":  func(a string) string { return "[x](<" + strings.Replace(a, "s", "s\n", 1) + ">)" },
}

func TestLinksRefused(t *testing.T) {
	for i := 0; i < len(badAddresses); i += short.Every(9) {
		address := badAddresses[i]
		for name, form := range forms {
			for _, got := range links(t, form(address)) {
				u, err := url.Parse(got)
				if err == nil && (u.Scheme == "http" || u.Scheme == "https") && name != "autolink" && name != "bare" || strings.HasPrefix(got, "#") {
					continue // the form changed it
				}
				t.Errorf("%s %q leads to %q", name, address, got)
			}
		}
	}
}

func TestLinksKept(t *testing.T) {
	for address, want := range goodAddresses {
		for _, name := range []string{"in angles", "image", "reference"} {
			if got := links(t, forms[name](address)); len(got) != 1 || got[0] != want {
				t.Errorf("%s %s leads to %q, want %s", name, address, got, want)
			}
		}
	}
	for address, want := range map[string]string{"<https://example.com/a&b>": "https://example.com/a&b", "<a@example.com>": "mailto:a@example.com"} {
		if got := links(t, address); len(got) != 1 || got[0] != want {
			t.Errorf("%s leads to %q, want %s", address, got, want)
		}
	}
}
