package acp

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// view is how a tool call looks.
type view struct {
	title     string
	kind      ToolKind
	content   []ToolCallContent
	locations []ToolCallLocation
}

// input gives the members of a tool's input.
type input event.JSON

func (in input) str(name string) string {
	j, _ := event.JSON(in).Member(name)
	return j.Text()
}

func (in input) number(name string) int64 { return int64(event.JSON(in).Number(name)) }

func (in input) isTrue(name string) bool {
	j, _ := event.JSON(in).Member(name)
	return j == "true"
}

// views describe the calls of known tools to people. Others show their name.
var views = map[string]func(in input, dir string) view{
	"Bash": viewBash, "Read": viewRead, "Edit": viewEdit, "Write": viewWrite, "Glob": viewGlob, "Grep": viewGrep,
	"WebFetch": viewFetch, "WebSearch": viewSearch, "Agent": viewAgent, "Task": viewAgent, "ExitPlanMode": viewPlan, "AskUserQuestion": viewQuestion,
	"EnterPlanMode": func(input, string) view { return view{title: "EnterPlanMode", kind: ToolKindSwitchMode} },
}

// viewOf is how a call of a tool looks with the input that is known so far.
func viewOf(name string, in event.JSON, dir string) view {
	if f := views[name]; f != nil {
		return f(input(in), dir)
	}
	if name == "" {
		name = "Tool"
	}
	return view{title: name, kind: ToolKindOther}
}

// shortPath is a path as it is shown: relative to the working directory where it is below.
func shortPath(path, dir string) string {
	if dir != "" {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return path
}

// location names a file that a call touches, if the path is absolute as it has to be.
func location(path, dir string, line int64) []ToolCallLocation {
	if path == "" {
		return []ToolCallLocation{}
	}
	if !filepath.IsAbs(path) && dir != "" {
		path = filepath.Join(dir, path)
	}
	l := ToolCallLocation{Path: path}
	if line > 0 {
		l.Line = Some(line)
	}
	return []ToolCallLocation{l}
}

func textContent(s string) ToolCallContent {
	return blockContent(TextBlock(s))
}

func blockContent(b ContentBlock) ToolCallContent {
	return ToolCallContent{Type: ToolCallContentIsContent, Value: &Content{Content: b}}
}

func textContents(s string) []ToolCallContent {
	if s == "" {
		return nil
	}
	return []ToolCallContent{textContent(s)}
}

func viewBash(in input, _ string) view {
	v := view{title: "Terminal", kind: ToolKindExecute, content: textContents(in.str("description"))}
	if c := in.str("command"); c != "" {
		v.title = c
	}
	return v
}

func viewRead(in input, dir string) view {
	v := view{title: "Read File", kind: ToolKindRead, locations: []ToolCallLocation{}}
	path := in.str("file_path")
	if path == "" {
		return v
	}
	offset, limit := in.number("offset"), in.number("limit")
	v.title = "Read " + shortPath(path, dir)
	switch {
	case limit > 0:
		first := max(offset, 1)
		v.title += fmt.Sprintf(" (%d - %d)", first, first+limit-1)
	case offset > 0:
		v.title += fmt.Sprintf(" (from line %d)", offset)
	}
	v.locations = location(path, dir, max(offset, 1))
	return v
}

func diffContent(path string, old Optional[string], text string) []ToolCallContent {
	return []ToolCallContent{{Type: ToolCallContentIsDiff, Value: &Diff{Path: path, OldText: old, NewText: text}}}
}

func viewEdit(in input, dir string) view {
	v := view{title: "Edit", kind: ToolKindEdit, locations: []ToolCallLocation{}}
	path := in.str("file_path")
	if path == "" {
		return v
	}
	v.title, v.locations = "Edit "+shortPath(path, dir), location(path, dir, 0)
	if _, ok := event.JSON(in).Member("new_string"); ok {
		v.content = diffContent(v.locations[0].Path, Some(in.str("old_string")), in.str("new_string"))
	}
	return v
}

func viewWrite(in input, dir string) view {
	v := view{title: "Preparing file…", kind: ToolKindEdit, locations: []ToolCallLocation{}}
	path := in.str("file_path")
	if path == "" {
		return v
	}
	v.title, v.locations = "Write "+shortPath(path, dir), location(path, dir, 0)
	if _, ok := event.JSON(in).Member("content"); ok {
		v.content = diffContent(v.locations[0].Path, Null[string](), in.str("content"))
	}
	return v
}

func viewGlob(in input, dir string) view {
	v := view{title: "Find", kind: ToolKindSearch, locations: []ToolCallLocation{}}
	if path := in.str("path"); path != "" {
		v.title += " `" + shortPath(path, dir) + "`"
		v.locations = location(path, dir, 0)
	}
	if p := in.str("pattern"); p != "" {
		v.title += " `" + p + "`"
	}
	return v
}

func viewGrep(in input, dir string) view {
	words := []string{"grep"}
	for _, flag := range []string{"-i", "-n"} {
		if in.isTrue(flag) {
			words = append(words, flag)
		}
	}
	for _, flag := range []string{"-A", "-B", "-C"} {
		if n := in.number(flag); n > 0 {
			words = append(words, fmt.Sprintf("%s %d", flag, n))
		}
	}
	switch in.str("output_mode") {
	case "files_with_matches":
		words = append(words, "-l")
	case "count":
		words = append(words, "-c")
	}
	if g := in.str("glob"); g != "" {
		words = append(words, fmt.Sprintf("--include=%q", g))
	}
	if p := in.str("pattern"); p != "" {
		words = append(words, fmt.Sprintf("%q", p))
	}
	if p := in.str("path"); p != "" {
		words = append(words, shortPath(p, dir))
	}
	return view{title: strings.Join(words, " "), kind: ToolKindSearch}
}

func viewFetch(in input, _ string) view {
	v := view{title: "Fetch", kind: ToolKindFetch, content: textContents(in.str("prompt"))}
	if u := in.str("url"); u != "" {
		v.title += " " + u
	}
	return v
}

func viewSearch(in input, _ string) view {
	v := view{title: "Web search", kind: ToolKindFetch}
	if q := in.str("query"); q != "" {
		v.title = fmt.Sprintf("%q", q)
	}
	return v
}

func viewAgent(in input, _ string) view {
	v := view{title: "Task", kind: ToolKindThink, content: textContents(in.str("prompt"))}
	if d := in.str("description"); d != "" {
		v.title = d
	}
	return v
}

func viewPlan(in input, _ string) view {
	return view{title: "Approve Plan", kind: ToolKindSwitchMode, content: textContents(in.str("plan"))}
}

func viewQuestion(in input, _ string) view {
	v := view{title: "Asking for your input", kind: ToolKindOther}
	list, _ := event.JSON(in).Member("questions")
	var lines []string
	for _, q := range list.Elements() {
		if text := input(q).str("question"); text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) == 1 {
		v.title = lines[0]
	}
	v.content = textContents(strings.Join(lines, "\n"))
	return v
}
