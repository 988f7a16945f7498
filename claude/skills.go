package claude

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// skillTools returns the entries of the allowed tools for skills.
func (l *launch) skillTools() []string {
	if l.AllSkills {
		return []string{"Skill"}
	}
	var tools []string
	for _, name := range l.Skills {
		tools = append(tools, "Skill("+name+")")
	}
	return tools
}

// checkSkills returns an error for names with characters that have a meaning in the list
// of allowed tools: commas and parentheses.
func checkSkills(names []string) error {
	for _, name := range names {
		if why := badSkill(name); why != "" {
			return fmt.Errorf("claude: Skills: %q %s", name, why)
		}
	}
	return nil
}

func badSkill(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is blank"
	case strings.TrimSpace(name) != name:
		return "begins or ends with white space"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsAny(name, "(),"):
		return "holds a parenthesis or a comma"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\ufeff' }):
		return "holds a control character"
	case name == "*" || strings.HasSuffix(name, ":*") || strings.HasSuffix(name, " *"):
		return "is a pattern; use AllSkills for all of them"
	case strings.HasPrefix(name, "/"):
		return "begins with a slash"
	case strings.Contains(name, `\\`) || strings.HasSuffix(name, `\`):
		return "holds a backslash that would escape something"
	}
	return ""
}
