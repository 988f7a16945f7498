// Package redact removes secrets and personal data from text. The tests of package claude/claudetest, which exports it, check it with a
// corpus.
package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted is the text with which a [Redactor] replaces secrets.
const Redacted = "[redacted]"

// Replacements for personal data that keep its shape.
const (
	redactedEmail = "user@example.com"
	redactedHome  = "/home/dev"
)

// Redactor removes secrets and personal data from text: keys of APIs and clouds, tokens, private keys, credentials in URLs and headers,
// values assigned to a name that contains secret, password, token or key, e-mail addresses, and home directories. It recognizes them by
// their shape, and some by the name before them. It cannot recognize a secret that looks like an ordinary word and has no such name,
// unless it was passed to [New].
//
// It does not change redacted text again. Its methods are safe for concurrent use.
type Redactor struct {
	literals *strings.Replacer
	home     *regexp.Regexp // nil if unknown
	homeDir  string
	project  string // the home directory in the CLI's names of projects
}

// minSecret is the minimum length of a known secret that is redacted everywhere.
const minSecret = 8

// New returns a redactor that also knows these secrets, and the values of environment variables of this process with names that indicate
// a secret.
func New(secrets ...string) *Redactor {
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); secretName(name) && len(value) >= minSecret {
			secrets = append(secrets, value)
		}
	}
	// The longer ones first, because one may be a part of another.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range secrets {
		if s != "" && s != Redacted {
			pairs = append(pairs, s, Redacted)
		}
	}
	r := &Redactor{literals: strings.NewReplacer(pairs...)}
	if home, err := os.UserHomeDir(); err == nil && home != redactedHome && len(filepath.Clean(home)) > 1 {
		home = filepath.Clean(home)
		r.homeDir = home
		r.home = regexp.MustCompile(`(^|[^\w.\-/\\])` + regexp.QuoteMeta(home) + `($|[^\w.\-])`)
		r.project = "projects/" + notInProject().ReplaceAllString(home, "-")
	}
	return r
}

// pattern returns a regular expression that is compiled on first use: most processes never redact, and compiling all patterns would add a
// millisecond to each start.
type pattern func() *regexp.Regexp

func compiled(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var (
	notInProject = compiled(`[^A-Za-z0-9]`)

	privateKey = compiled(`(?is)-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}.*?(?:-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}|$)`)
	putty      = compiled(`(?i)(Private-Lines:\s*\d+(?:\s|\\+[rn])+)((?:[A-Za-z0-9+/=]+(?:\s|\\+[rn])*)+)`)
	urlUser    = compiled(`[A-Za-z][A-Za-z0-9+.-]*://[^\s@"'<>\\?]+@[^\s"'<>\\]*`)
	knownToken = compiled(`\b(?:` + strings.Join([]string{
		`sk-ant-[\w-]{4,}`,                                            // Anthropic
		`sk-[A-Za-z0-9_-]{20,}`,                                       // OpenAI and others
		`(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}`,                         // AWS
		`gh[pousr]_[A-Za-z0-9]{16,}`,                                  // GitHub
		`github_pat_\w{20,}`,                                          //
		`glpat-[\w-]{16,}`,                                            // GitLab
		`xox[abeprs]-[\w-]{10,}`,                                      // Slack
		`AIza[\w-]{30,}`,                                              // Google
		`ya29\.[\w-]{20,}`,                                            //
		`npm_[A-Za-z0-9]{30,}`,                                        // npm
		`hf_[A-Za-z0-9]{30,}`,                                         // Hugging Face
		`[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`,                        // Stripe
		`eyJ[\w-]{6,}\.eyJ[\w-]{6,}(?:\.[\w-]*){1,4}`,                 // JWT
		`eyJ[\w-]{6,}\.[\w-]*\.[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,     // JWT, encrypted
		`xapp-\d-[\w-]{10,}`,                                          // Slack
		`gl(?:rt|dt|cbt|ptt|ft|soat)-[\w-]{16,}`,                      // GitLab
		`dop_v1_[a-zA-Z0-9]{16,}|dckr_pat_[\w-]{16,}|pypi-[\w-]{20,}`, // DigitalOcean, Docker, PyPI
		`SG\.[\w-]{8,}\.[\w-]{16,}|whsec_[\w+/=]{16,}|shp(?:at|ss|ca|pa)_\w{16,}`, // SendGrid, webhooks, Shopify
		`hv[sb]\.[\w-]{16,}|GOCSPX-[\w-]{16,}|ATATT[\w=-]{16,}`,                   // Vault, Google, Atlassian
		`lin_api_\w{16,}|sntry[su]_[\w=+/-]{16,}|gsk_\w{20,}|xai-\w{20,}`,         // Linear, Sentry, Groq, xAI
		`AGE-SECRET-KEY-1[A-Z0-9]{8,}|tskey-[a-z]+-[\w-]{10,}`,                    // age, Tailscale
	}, "|") + `)`)
	// tokenHints are the prefixes of those, in lower case.
	tokenHints = []string{
		"sk-", "akia", "asia", "aroa", "aida", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "aiza",
		"ya29.", "npm_", "hf_", "k_live_", "k_test_", "eyj", "xapp-", "glrt-", "gldt-", "glcbt-", "glptt-", "glft-", "glsoat-", "dop_v1_", "dckr_pat_",
		"pypi-", "sg.", "whsec_", "shpat_", "shpss_", "shpca_", "shppa_", "hvs.", "hvb.", "gocspx-", "atatt", "lin_api_", "sntrys_", "sntryu_", "gsk_",
		"xai-", "age-secret-key-", "tskey-",
	}
	scheme = compiled(`(?i)\b(bearer|basic)(\s+)([A-Za-z0-9._~+/=-]{8,})`)
	email  = compiled(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
	homes  = compiled(`(^|[^\w.\-/\\])(?:/home/|/Users/|[A-Za-z]:(?:\\+|/)Users(?:\\+|/))[\pL\pN_@+-]+(?:\.[\pL\pN_@+-]+)*`)
	// On Windows user names may contain spaces.
	blankHomes = compiled(`(^|[^\w.\-/\\])[A-Za-z]:(?:\\+|/)Users(?:\\+|/)[^\\/:*?"<>|\r\n]{1,60}([\\/])`)
)

// rule is a regular expression and the replacement of its matches. It is applied only if the text contains one of the hints, in lower
// case: most texts contain no hint, and searching for hints is much cheaper.
type rule struct {
	hints   []string
	redact  func(r *Redactor, s string) string
	enabled func(r *Redactor) bool
}

func replace(re pattern, with string) func(*Redactor, string) string {
	return func(_ *Redactor, s string) string { return re().ReplaceAllString(s, with) }
}

// rules are in the order in which they are applied.
var rules = []rule{
	{hints: []string{"private key"}, redact: replace(privateKey, Redacted)},
	{hints: []string{"private-lines"}, redact: replace(putty, "${1}"+Redacted)},
	{hints: []string{"://"}, redact: redactURLUser},
	{hints: []string{"hook", "/bot"}, redact: redactWebhooks},
	{hints: tokenHints, redact: replace(knownToken, Redacted)},
	{hints: []string{"bearer", "basic"}, redact: redactSchemes},
	{hints: []string{"key=", "sig=", "signature="}, redact: replace(query, "${1}"+Redacted)},
	{
		hints:  []string{"key", "token", "secret", "pass", "pwd", "authorization", "_auth", "cookie", "credential"},
		redact: func(_ *Redactor, s string) string { return redactAssignments(s) },
	},
	{hints: []string{"key", "token", "secret", "pass", "pwd", "authorization", "cookie", "credential"}, redact: func(_ *Redactor, s string) string { return redactFlags(s) }},
	{hints: []string{"-u", "--user", "--proxy-user", "--auth", "curl"}, redact: redactUserFlags},
	{hints: []string{" -p"}, redact: redactLast(passwordCommand, func(string) bool { return false })},
	{hints: []string{"redis-cli", "zip", "ldap", "-pass"}, redact: redactLast(otherCommand, func(string) bool { return false })},
	{hints: []string{"-p"}, redact: redactLast(shortFlag, func(value string) bool { return !looksChosen(value) })},
	{hints: []string{"pwd="}, redact: redactLast(connection, func(string) bool { return false })},
	{hints: []string{"identified", "password"}, redact: redactLast(statement, func(string) bool { return false })},
	{hints: []string{"set", "env ", "arg "}, redact: redactSettings},
	{hints: []string{"password"}, redact: redactNetrc},
	{hints: []string{"</", `<\/`, "u003c", "value="}, redact: redactXML},
	{hints: []string{"@"}, redact: redactEmails},
	{hints: []string{"/", `\`}, redact: redactHome, enabled: func(r *Redactor) bool { return r.home != nil }},
	{hints: []string{`:\`, ":/"}, redact: replace(blankHomes, "${1}"+redactedHome+"${2}")},
	{hints: []string{"/home/", "/users/", `\users\`}, redact: replace(homes, "${1}"+redactedHome)},
}

// Text redacts a text.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return s
	}
	s = r.literals.Replace(s)
	lower := strings.ToLower(s)
	for _, rule := range rules {
		if rule.enabled != nil && !rule.enabled(r) {
			continue
		}
		// A replacement never contains a hint for another rule.
		if slices.ContainsFunc(rule.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			s = rule.redact(r, s)
		}
	}
	return s
}

// redactSchemes redacts the credentials after the name of an HTTP authentication scheme. It keeps an ordinary word, which belongs to a
// sentence.
func redactSchemes(_ *Redactor, s string) string {
	return replaceGroup(scheme, s, 3, func(m []string) bool { return isWord(m[3]) })
}

func redactEmails(_ *Redactor, s string) string {
	return email().ReplaceAllStringFunc(s, func(address string) string {
		if strings.HasPrefix(address, "git@") {
			return address // the user name of all git repositories
		}
		return redactedEmail
	})
}

func redactHome(r *Redactor, s string) string {
	if strings.Contains(s, r.homeDir) {
		s = r.home.ReplaceAllString(s, "${1}"+redactedHome+"${2}")
		s = r.home.ReplaceAllString(s, "${1}"+redactedHome+"${2}") // two that share a separator
	}
	return strings.ReplaceAll(s, r.project, "projects/-home-dev")
}

// JSON redacts the strings in a JSON value and leaves every other byte unchanged, so that the result is valid JSON. It treats invalid
// JSON as text.
func (r *Redactor) JSON(value []byte) []byte {
	if !json.Valid(value) {
		return []byte(r.Text(string(value)))
	}
	w := jsonRedactor{r: r}
	w.out.Grow(len(value))
	for rest := value; len(rest) > 0; {
		n := 1
		if rest[0] == '"' {
			n = stringEnd(rest)
			w.string(rest[:n])
		} else {
			w.punctuation(rest[0])
		}
		rest = rest[n:]
	}
	return w.out.Bytes()
}

// stringEnd returns the length of the string literal that b begins with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// jsonRedactor walks valid JSON.
type jsonRedactor struct {
	r     *Redactor
	out   bytes.Buffer
	stack []jsonPlace
}

// jsonPlace is an open object or array.
type jsonPlace struct {
	key     string // the current member; in an array, the member of the array
	named   string // the object's member "name", for objects with a member "value"
	flag    string // in an array, the flag before this string
	isArray bool
	wantKey bool
}

func (w *jsonRedactor) top() *jsonPlace {
	if len(w.stack) == 0 {
		return &jsonPlace{}
	}
	return &w.stack[len(w.stack)-1]
}

func (w *jsonRedactor) punctuation(c byte) {
	switch c {
	case '{':
		w.stack = append(w.stack, jsonPlace{wantKey: true})
	case '[':
		w.stack = append(w.stack, jsonPlace{isArray: true, key: w.top().key})
	case '}', ']':
		w.stack = w.stack[:len(w.stack)-1]
	case ',':
		w.top().wantKey = !w.top().isArray
	case ':':
		w.top().wantKey = false
	}
	w.out.WriteByte(c)
}

// encode returns the JSON of a string, without escapes for <, > and &.
func encode(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // cannot fail for strings
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (w *jsonRedactor) string(literal []byte) {
	var s string
	_ = json.Unmarshal(literal, &s) // cannot fail: the whole was valid
	place := w.top()
	var redacted string
	switch {
	case place.wantKey:
		place.key = s
		redacted = w.r.Text(s)
	case secretName(place.key) && !harmless(s), place.key == "value" && secretName(place.named) && !harmless(s):
		redacted = Redacted
	case place.isArray && place.flag != "":
		redacted = w.r.flagged(place.flag, s)
		place.flag = ""
	case place.isArray && strings.HasPrefix(s, "-") && !strings.ContainsAny(s, " ="):
		place.flag = s
		redacted = w.r.Text(s)
	default:
		if slices.Contains([]string{"name", "key", "header"}, place.key) {
			place.named = s
		}
		redacted = w.r.Text(s)
	}
	if redacted == s {
		w.out.Write(literal)
		return
	}
	w.out.Write(encode(redacted))
}
