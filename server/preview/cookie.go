package preview

import (
	"net/http"
	"strings"
)

// ownCookies begin the names of cookies of Parley, which no previewed server gets or sets.
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

// jar translates the cookies of a previewed server. A prefix is put before their names where
// the host is shared with others; empty leaves them as they are.
type jar struct{ prefix string }

// toServer is the header Cookie as the server gets it, without what is not its own.
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

// toBrowser is a header Set-Cookie as the browser gets it, false where it is dropped. It is for
// the one host alone, whatever the server asked for.
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
