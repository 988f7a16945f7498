package codexevent

import (
	"path"
	"strings"
)

// script returns the script of a command that only runs a shell with a script, and any other
// command unchanged. Codex runs each command of the model with the user's shell.
func script(command string) string {
	words, ok := shellWords(command)
	if !ok || len(words) != 3 || words[1] != "-lc" && words[1] != "-c" || strings.TrimSpace(words[2]) == "" {
		return command
	}
	switch path.Base(words[0]) {
	case "bash", "zsh", "sh", "dash":
		return words[2]
	}
	return command
}

// shellWords splits a quoted command into its words. It returns false for a quote without an end.
func shellWords(s string) (words []string, ok bool) {
	var word strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && i+1 < len(s) && (quote == 0 || quote == '"' && strings.IndexByte("\"\\$`", s[i+1]) >= 0):
			i++
			word.WriteByte(s[i])
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}
