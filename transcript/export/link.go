package export

import (
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"
)

// resolved returns the address of a link as a browser reads it: with the entities and escapes of
// the text resolved.
func resolved(destination []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(destination))))
}

// openLink opens a link to a resolved address. A link that is not allowed gets no address.
func openLink(w util.BufWriter, address string) {
	address = strings.TrimSpace(address)
	if !allowed(address) {
		write(w, "<a>")
		return
	}
	write(w, `<a rel="noopener noreferrer nofollow" href="`+html.EscapeString(string(util.URLEscape([]byte(address), false)))+`">`)
}

// allowed reports whether a page may link to an address: a web page, a mail address, a fragment of
// the page. Any other address could run code or open a file of the reader.
func allowed(address string) bool {
	if strings.HasPrefix(address, "#") {
		return !strings.ContainsFunc(address, unseen)
	}
	if strings.ContainsFunc(address, unseen) || strings.Contains(address, `\`) {
		return false // a browser would drop it or interpret it differently
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

// unseen reports whether a character of an address is invisible.
func unseen(r rune) bool {
	return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
