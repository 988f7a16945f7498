package export

import (
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"
)

// resolved is the address of a link as a browser will see it: with the entities and the
// escapes of the text resolved.
func resolved(destination []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
}

// openLink opens a link, whose address is resolved. One that is not allowed leads
// nowhere.
func openLink(w util.BufWriter, address string) {
	address = strings.TrimSpace(address)
	if !allowed(address) {
		write(w, "<a>")
		return
	}
	write(w, `<a rel="noopener noreferrer nofollow" href="`+html.EscapeString(string(util.URLEscape([]byte(address), false)))+`">`)
}

// allowed reports whether a page may have a link to an address: a page on the web, a
// mail, a place in the page itself. Everything else could run something, or open a file of the
// reader of the page.
func allowed(address string) bool {
	if strings.HasPrefix(address, "#") {
		return !strings.ContainsFunc(address, unseen)
	}
	if strings.ContainsFunc(address, unseen) || strings.Contains(address, `\`) {
		return false // a browser would leave it out, or take it for something else
	}
	scheme, rest, ok := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		return ok && len(rest) > len("//") && strings.HasPrefix(rest, "//") && rest[2] != '/'
	case "mailto":
		return ok && rest != ""
	}
	return false
}

// unseen reports whether a character of an address is one that cannot be seen.
func unseen(r rune) bool {
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
