package editor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// view is the display of a tool call.
type view struct {
	title     string
	kind      acp.ToolKind
	content   []acp.ToolCallContent
	locations []acp.ToolCallLocation
}

// input holds the members of a tool's input.
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

// views describe the calls of known tools. Calls of other tools show the tool's name.
var views = map[string]func(in input, dir string) view{
	"Bash": viewBash, "Read": viewRead, "Edit": viewEdit, "Write": viewWrite, "Glob": viewGlob, "Grep": viewGrep,
	"WebFetch": viewFetch, "WebSearch": viewSearch, "Agent": viewAgent, "Task": viewAgent, "ExitPlanMode": viewPlan, "AskUserQuestion": viewQuestion,
	"fileChange":    viewChanges,
	"EnterPlanMode": func(input, string) view { return view{title: "EnterPlanMode", kind: acp.ToolKindSwitchMode} },
}

// viewOf returns the display of a tool call with its input so far.
func viewOf(name string, in event.JSON, dir string) view {
	if f := views[name]; f != nil {
		return f(input(in), dir)
	}
	name = cmp.Or(name, "Tool")
	return view{title: name, kind: acp.ToolKindOther}
}

// shortPath returns a path for display: relative if it is below the working directory.
func shortPath(path, dir string) string {
	if dir != "" {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return path
}

// location returns the location of a file that a call uses. The protocol requires an absolute path;
// for other paths location returns nil.
func location(path, dir string, line int64) []acp.ToolCallLocation {
	if path == "" {
		return []acp.ToolCallLocation{}
	}
	if !filepath.IsAbs(path) && dir != "" {
		path = filepath.Join(dir, path)
	}
	l := acp.ToolCallLocation{Path: path}
	if line > 0 {
		l.Line = acp.Some(line)
	}
	return []acp.ToolCallLocation{l}
}

func textContent(s string) acp.ToolCallContent {
	return blockContent(acp.TextBlock(s))
}

func blockContent(b acp.ContentBlock) acp.ToolCallContent {
	return acp.ToolCallContent{Type: acp.ToolCallContentIsContent, Value: &acp.Content{Content: b}}
}

func textContents(s string) []acp.ToolCallContent {
	if s == "" {
		return nil
	}
	return []acp.ToolCallContent{textContent(s)}
}

func viewBash(in input, _ string) view {
	return view{title: cmp.Or(in.str("command"), "Terminal"), kind: acp.ToolKindExecute, content: textContents(in.str("description"))}
}

func viewRead(in input, dir string) view {
	v := view{title: "Read File", kind: acp.ToolKindRead, locations: []acp.ToolCallLocation{}}
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

func diffContent(path string, old acp.Optional[string], text string) []acp.ToolCallContent {
	return []acp.ToolCallContent{{Type: acp.ToolCallContentIsDiff, Value: &acp.Diff{Path: path, OldText: old, NewText: text}}}
}

func viewEdit(in input, dir string) view {
	v := view{title: "Edit", kind: acp.ToolKindEdit, locations: []acp.ToolCallLocation{}}
	path := in.str("file_path")
	if path == "" {
		return v
	}
	v.title, v.locations = "Edit "+shortPath(path, dir), location(path, dir, 0)
	if _, ok := event.JSON(in).Member("new_string"); ok {
		v.content = diffContent(v.locations[0].Path, acp.Some(in.str("old_string")), in.str("new_string"))
	}
	return v
}

func viewWrite(in input, dir string) view {
	v := view{title: "Preparing file…", kind: acp.ToolKindEdit, locations: []acp.ToolCallLocation{}}
	path := in.str("file_path")
	if path == "" {
		return v
	}
	v.title, v.locations = "Write "+shortPath(path, dir), location(path, dir, 0)
	if _, ok := event.JSON(in).Member("content"); ok {
		v.content = diffContent(v.locations[0].Path, acp.Null[string](), in.str("content"))
	}
	return v
}

// viewChanges shows a patch of Codex: a diff for each hunk, and the complete text of a new or
// deleted file.
func viewChanges(in input, dir string) view {
	v := view{title: "Edit", kind: acp.ToolKindEdit, locations: []acp.ToolCallLocation{}}
	changes, _ := event.JSON(in).Member("changes")
	for _, change := range changes.Elements() {
		c := input(change)
		kind, _ := change.Member("kind")
		places := append(location(c.str("path"), dir, 0), location(input(kind).str("move_path"), dir, 0)...)
		if len(places) == 0 {
			continue
		}
		path, diff := places[0].Path, c.str("diff")
		v.title += " " + shortPath(places[len(places)-1].Path, dir)
		v.locations = append(v.locations, places...)
		hunks := unified(diff)
		switch {
		case len(hunks) > 0:
			for i := range hunks {
				v.content = append(v.content, hunkContent(&event.FileChange{Path: path}, &hunks[i]))
			}
		case input(kind).str("type") == "delete":
			v.content = append(v.content, diffContent(path, acp.Some(diff), "")...)
		default:
			v.content = append(v.content, diffContent(path, acp.Null[string](), diff)...)
		}
	}
	return v
}

// unified returns the hunks of a unified diff, without their line numbers.
func unified(diff string) (hunks []event.Hunk) {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@") {
			hunks = append(hunks, event.Hunk{})
		} else if len(hunks) > 0 {
			h := &hunks[len(hunks)-1]
			h.Lines = append(h.Lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return hunks
}

func viewGlob(in input, dir string) view {
	v := view{title: "Find", kind: acp.ToolKindSearch, locations: []acp.ToolCallLocation{}}
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
	return view{title: strings.Join(words, " "), kind: acp.ToolKindSearch}
}

func viewFetch(in input, _ string) view {
	v := view{title: "Fetch", kind: acp.ToolKindFetch, content: textContents(in.str("prompt"))}
	if u := in.str("url"); u != "" {
		v.title += " " + u
	}
	return v
}

func viewSearch(in input, _ string) view {
	v := view{title: "Web search", kind: acp.ToolKindFetch}
	if q := in.str("query"); q != "" {
		v.title = fmt.Sprintf("%q", q)
	}
	return v
}

func viewAgent(in input, _ string) view {
	return view{title: cmp.Or(in.str("description"), "Task"), kind: acp.ToolKindThink, content: textContents(in.str("prompt"))}
}

func viewPlan(in input, _ string) view {
	return view{title: "Approve Plan", kind: acp.ToolKindSwitchMode, content: textContents(in.str("plan"))}
}

func viewQuestion(in input, _ string) view {
	v := view{title: "Asking for your input", kind: acp.ToolKindOther}
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
