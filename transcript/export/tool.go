package export

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// listing is a text with its language, or the name of a file in that language.
type listing struct {
	Text     string
	Language string
	File     string
}

// members returns the string members of an input.
func members(input message.JSON) map[string]string {
	var all map[string]json.RawMessage
	_ = input.Decode(&all) // otherwise the map stays empty
	texts := map[string]string{}
	for name, v := range all {
		var s string
		if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
			texts[name] = s
		}
	}
	return texts
}

// summary describes a call in one line.
func (t *tool) summary() string {
	m := members(t.Input)
	for _, name := range []string{"description", "command", "file_path", "notebook_path", "pattern", "path", "url", "query", "skill", "prompt"} {
		if s := strings.TrimSpace(m[name]); s != "" {
			line, _, _ := strings.Cut(s, "\n")
			return line
		}
	}
	return ""
}

// listings returns the input of a call in the form that people would write it.
func (t *tool) listings() []listing {
	m := members(t.Input)
	switch {
	case t.Name == "Bash" && m["command"] != "":
		return []listing{{Text: m["command"], Language: "bash"}}
	case t.Name == "Write" && m["file_path"] != "":
		return []listing{{Text: m["content"], File: m["file_path"]}}
	case t.Name == "Edit" && m["file_path"] != "":
		return []listing{{Text: difference(m["old_string"], m["new_string"]), Language: "diff", File: ""}}
	case t.Input == "" || t.Input == "{}":
		return nil
	}
	return []listing{{Text: indented([]byte(t.Input)), Language: "json"}}
}

// difference formats the replacement of one text by another.
func difference(old, now string) string {
	var b strings.Builder
	for _, side := range []struct{ mark, text string }{{"-", old}, {"+", now}} {
		if side.text == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(side.text, "\n"), "\n") {
			b.WriteString(side.mark + line + "\n")
		}
	}
	return b.String()
}

// maxIndented is the nesting depth up to which JSON is indented. Deeper JSON would become mostly
// white space: a text of 20 KB would grow to 200 MB.
const maxIndented = 64

// nesting returns the nesting depth of a JSON text.
func nesting(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func indented(text []byte) string {
	var b bytes.Buffer
	if nesting(text) > maxIndented {
		return string(text)
	}
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}
