package redact

import (
	"slices"
	"strings"
)

// separator matches the text between two words of a command line: spaces, or the text between two strings of a JSON
// array, with backslashes if the JSON is inside of a string. A backslash at the end of a line continues it.
const separator = `(?:\\*["']?[ \t]+(?:\\+(?:\s+|n[ \t]*))?|\\*["'],\s*)`

// The brackets of an XML tag, which nested JSON may escape.
const (
	lt = `(?:<|\\+u003c)`
	gt = `(?:>|\\+u003e)`
)

// netrcGap matches the text between two words of a netrc file, with optional line numbers.
const netrcGap = `(?:(?:\s|\\+[nt])+(?:\d+(?:→|\t|\\+t)\s*)?)`

var (
	// longFlag is a flag and the separator before its value.
	longFlag = compiled(`(?:^|[\s"'\x60(\[,])(--?[A-Za-z][\w.-]+)` + separator)
	// userFlag is a name and a password in one word, in the form of curl.
	userFlag = compiled(`((?:^|[\s"'\x60(\[,])(?:(?:-u|-U|--user|--proxy-user|--auth)(?:=|` + separator + `)?|-[a-zA-Z]{1,6}u` + separator + `)\\*["']?(?:[^\s:"'\\=-][^\s:"'=]*)?:)([^\s"'\\\x60]+)`)
	// shortFlag is a password directly after its flag, in the form of the MySQL clients.
	shortFlag = compiled(`((?:^|[\s"'\x60(\[,])-p\\*["']?)([^\s"'\\\x60=][^\s"'\\\x60]{3,})`)
	// passwordCommand is a program with a flag -p for any password.
	passwordCommand = compiled(`(?i)(\b(?:mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|7z[a-z]?|rar|unrar|(?:docker|podman|az|helm\s+registry)\s+login)\b[^\n|;]*?\s-p[ \t]*\\*["']?)([^\s"'\\\x60-][^\s"'\\\x60]*)`)
	// otherCommand are programs with another flag for the password.
	otherCommand = compiled(`(?i)((?:\bredis-cli\b[^\n|;]*?\s-a|\b(?:un)?zip\b[^\n|;]*?\s-P|\bldap\w+\b[^\n|;]*?\s-w|\s-pass(?:in|out)?\s+pass:)[ \t]*\\*["']?)([^\s"'\\\x60-][^\s"'\\\x60]*)`)
	// connection is the password of a connection string; the variable of that name holds a directory.
	connection = compiled(`(?i)((?:^|[;"'])\s*pwd=)([^;\s"'/\\~.][^;"'\n]*)`)
	// statement is a password in SQL.
	statement = compiled(`(?i)(\b(?:identified\s+(?:with\s+\S+\s+)?by|(?:with|encrypted|alter\s+user\s+\S+)\s+password)\s+\\*['"])([^'"\\]+)`)
	// setting is a command that sets a variable to the next word.
	setting = compiled(`(?m)((?:^|[\s"'\x60]|\\+n)(?:setx|setenv|ENV|ARG|set\s+-[a-zA-Z]+|configure\s+set|config\s+set)[ \t]+\S*?([\w.-]+)[ \t]+\\*["']?)([^\s"'\\=-][^\s"'\\]*)`)
	// netrc is an entry of that file, in one line or in several.
	netrc = compiled(`(?i)((?:\b|\\[nt])(machine\s+\S+|login\s+\S+|default)` + netrcGap + `(?:(?:login|account)\s+\S+` + netrcGap + `)*?password\s+\\*"?)([^\s"\\]+)`)
	// element is the opening tag of an XML element with the text in it. Nested JSON may escape < and >.
	element = compiled(`(?i)((?:<|\\+u003c)([\w.:-]+)(?:\s[^<>]*?)?(?:>|\\+u003e)\s*)([^<>]*?[^<>\s])(\s*(?:<|\\+u003c)\\*/)`)
	// verbatim is the same with an unescaped text.
	verbatim = compiled(`(?i)(` + lt + `([\w.:-]+)(?:\s[^<>]*?)?` + gt + `\s*` + lt + `!\[CDATA\[\s*)([^<>\]]+)(\]\]` + gt + `)`)
	// pairOfAttributes is a setting in the attributes of an XML configuration file.
	pairOfAttributes = compiled(`(?i)(\b(?:key|name)=\\*["']([^"'\\<>]+)\\*["']\s+value=\\*["'])([^"'\\<>]+)`)
	// valueFirst is the same with its attributes in the other order.
	valueFirst = compiled(`(?i)(\bvalue=\\*["'])([^"'\\<>]+)(\\*["']\s+(?:key|name)=\\*["'])([^"'\\<>]+)`)
	// namedElement is a setting with the name in an attribute and the value as text.
	namedElement = compiled(`(?i)(` + lt + `[\w.:-]+\s[^<>]*?\b(?:key|name)=\\*["']([^"'\\<>]+)\\*["'][^<>]*?` + gt + `\s*)([^<>]*?[^<>\s])(\s*` + lt + `\\*/)`)
	// pairOfElements is a setting in a list of properties.
	pairOfElements = compiled(`(?i)(` + lt + `key` + gt + `([^<>\\]+)` + lt + `\\*/key` + gt + `(?:\s|\\+[nt])*` + lt + `string` + gt + `)([^<>\\]+)(` + lt + `)`)
	// webhook is a URL of a webhook, which anyone who knows it can use.
	webhook = compiled(`(?i)(?:https?:(?:\\*/){2}|\bhooks\.slack\.com|\bdiscord(?:app)?\.com\\*/api)(?:[^\s"'<>\\\x60]|\\+/)*(?:hook|/bot\d+:|services)(?:[^\s"'<>\\\x60]|\\+/)*`)
)

// prose are words that follow the name of a flag in ordinary text.
var prose = []string{"is", "are", "was", "and", "or", "to", "for", "in", "as", "the", "a", "an", "of", "with", "from", "flag", "option", "must", "can", "may", "if", "on", "not", "when", "which", "that"}

// redactFlags redacts the values of flags with secret names.
func redactFlags(s string) string {
	var b strings.Builder
	for {
		m := longFlag().FindStringSubmatchIndex(s)
		if m == nil {
			b.WriteString(s)
			return b.String()
		}
		name, rest := s[m[2]:m[3]], s[m[1]:]
		b.WriteString(s[:m[1]])
		if flag := strings.TrimLeft(name, "-"); secretName(flag) || flag == "pass" || flag == "pwd" || strings.HasSuffix(flag, "-pass") {
			before, value, after := assigned("", rest)
			if !harmless(value) && !slices.Contains(prose, value) && !strings.HasPrefix(value, "-") {
				value = Redacted
			}
			b.WriteString(before + value)
			rest = after
		}
		s = rest
	}
}

// redactLast replaces the last group of a match by [Redacted] unless keep returns true.
func redactLast(re pattern, keep func(value string) bool) func(*Redactor, string) string {
	return func(_ *Redactor, s string) string {
		return replaceGroup(re, s, 2, func(m []string) bool { return harmless(m[2]) || keep(m[2]) })
	}
}

// redactUserFlags redacts passwords after user names. The same position can hold a system group, often with the
// user's name, which it keeps.
func redactUserFlags(_ *Redactor, s string) string {
	return replaceGroup(userFlag, s, 2, func(m []string) bool {
		name, _ := strings.CutSuffix(m[1], ":")
		return harmless(m[2]) || isNumber(m[2]) || strings.HasSuffix(name, " "+m[2])
	})
}

// redactSettings redacts the values that commands assign to variables with secret names.
func redactSettings(_ *Redactor, s string) string {
	return replaceGroup(setting, s, 3, func(m []string) bool { return !secretName(m[2]) || harmless(m[3]) })
}

// redactNetrc redacts passwords of a netrc file. Without a machine, a match may be an ordinary sentence.
func redactNetrc(_ *Redactor, s string) string {
	return replaceGroup(netrc, s, 3, func(m []string) bool {
		machine := len(m[2]) > len("machine") && strings.EqualFold(m[2][:len("machine")], "machine")
		return harmless(m[3]) || !machine && isWord(m[3])
	})
}

// word is a word of a text, or several joined words.
var word = compiled(`^[A-Za-z]?[a-z]+(?:[-/.][a-z]+)*[-.,;:!?)]*$`)

// isWord reports whether a value is an ordinary word.
func isWord(value string) bool { return word().MatchString(value) }

// replaceGroup replaces a group of every match by [Redacted], unless keep returns true.
func replaceGroup(re pattern, s string, group int, keep func(groups []string) bool) string {
	var b strings.Builder
	last := 0
	for _, at := range re().FindAllStringSubmatchIndex(s, -1) {
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = s[at[2*i]:at[2*i+1]]
			}
		}
		if !keep(groups) {
			b.WriteString(s[last:at[2*group]] + Redacted)
			last = at[2*group+1]
		}
	}
	return b.String() + s[last:]
}

// redactXML redacts the text of elements with secret names, and the values of settings with such names.
func redactXML(_ *Redactor, s string) string {
	keep := func(m []string) bool {
		_, local, qualified := strings.Cut(m[2], ":")
		if !qualified {
			local = m[2]
		}
		return !secretName(local) || harmless(m[3])
	}
	for _, re := range []pattern{element, verbatim, namedElement, pairOfElements, pairOfAttributes} {
		s = replaceGroup(re, s, 3, keep)
	}
	return replaceGroup(valueFirst, s, 2, func(m []string) bool { return !secretName(m[4]) || harmless(m[2]) })
}

// isNumber reports whether a value is a number, or two: a port, an id of a user.
func isNumber(value string) bool { return strings.Trim(value, "0123456789:,.-") == "" }

// looksChosen reports whether a word looks like a password and not like a flag, port or path.
func looksChosen(value string) bool {
	letters := strings.ContainsFunc(value, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
	return letters && len(value) >= 6 && strings.ContainsAny(value, "0123456789!#$%&*+?@^~") && !strings.ContainsAny(value, "/:=")
}

// redactWebhooks redacts the parts of a webhook URL that are not words.
func redactWebhooks(_ *Redactor, s string) string {
	return webhook().ReplaceAllStringFunc(s, func(url string) string {
		if !strings.Contains(strings.ToLower(url), "hook") && !strings.Contains(url, "/bot") {
			return url
		}
		parts := strings.Split(url, "/")
		after, host := false, 0
		if strings.Contains(parts[0], ":") { // a scheme
			host = 2
		}
		for i, part := range parts {
			part, slashes := strings.TrimRight(part, `\`), part[len(strings.TrimRight(part, `\`)):] // those of JSON
			lower := strings.ToLower(part)
			switch name, token, isBot := strings.Cut(part, ":"); {
			case isBot && strings.HasPrefix(lower, "bot") && len(token) >= minSecret:
				parts[i] = name + ":" + Redacted + slashes
			case after && i > host && !strings.Contains(lower, "hook") && looksIssued(part):
				parts[i] = Redacted + slashes
			}
			after = after || strings.Contains(lower, "hook")
		}
		return strings.Join(parts, "/")
	})
}

// fileEnd matches the extension of a source file.
var fileEnd = compiled(`\.[a-z]{1,4}$`)

// looksIssued reports whether a program generated a part of a path.
func looksIssued(part string) bool {
	digits := strings.ContainsAny(part, "0123456789")
	oneCase := part == strings.ToLower(part)
	return len(part) >= minSecret && (digits || !oneCase) && !fileEnd().MatchString(part)
}

// redactURLUser redacts the user and the password of a URL. A password may contain an unescaped @ or slash: the host
// begins after the last @ before the path.
func redactURLUser(_ *Redactor, s string) string {
	return urlUser().ReplaceAllStringFunc(s, func(match string) string {
		scheme, rest, _ := strings.Cut(match, "://")
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		at := strings.LastIndexByte(rest[:end], '@')
		if at < 0 {
			// A slash before the @: a password if there is a user before it, else a path such as /pkg@v1.
			user, password, ok := strings.Cut(rest[:end], ":")
			if at = strings.IndexByte(rest, '@'); at < 0 || !ok || user == "" || isNumber(password) {
				return match
			}
		}
		return scheme + "://" + Redacted + rest[at:]
	})
}

// flagged redacts the word after a flag in a list of arguments.
func (r *Redactor) flagged(flag, value string) string {
	joined := flag + " " + value
	text := r.Text(joined)
	if rest, ok := strings.CutPrefix(text, flag+" "); ok && !strings.Contains(value, " ") {
		return rest
	}
	if secretName(strings.TrimLeft(flag, "-")) && !harmless(value) && !strings.HasPrefix(value, "-") {
		return Redacted
	}
	return r.Text(value)
}
