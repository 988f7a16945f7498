package preview

import (
	"net/http"
	"strings"
)

// ownCookies are the prefixes of Parley's cookies, which no previewed server gets or sets.
var ownCookies = []string{"parley_", "__host-parley_", "__secure-parley_"}

func isOwn(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range ownCookies {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// jar translates the cookies of a previewed server. It adds a prefix to their names if several
// previews share the host; an empty prefix leaves them unchanged.
type jar struct{ prefix string }

// toServer returns the Cookie header for the server, without foreign cookies.
func (j jar) toServer(lines []string) string {
	var kept []string
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.TrimSpace(pair)
			name, _, _ := strings.Cut(pair, "=")
			if rest, ok := strings.CutPrefix(pair, j.prefix); ok && pair != "" && !isOwn(name) {
				kept = append(kept, rest)
			}
		}
	}
	return strings.Join(kept, "; ")
}

// toBrowser returns a Set-Cookie header for the browser, false if it is dropped. It is limited to
// the host, regardless of the server's domain.
func (j jar) toBrowser(line string) (string, bool) {
	c, err := http.ParseSetCookie(line)
	if err != nil || isOwn(c.Name) {
		return "", false
	}
	c.Domain = ""
	if j.prefix != "" {
		c.Name, c.HttpOnly = j.prefix+c.Name, true
	}
	text := c.String()
	return text, text != ""
}
