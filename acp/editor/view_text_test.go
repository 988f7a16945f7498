package editor_test

import (
	"fmt"
	"slices"
	"strings"
)

// String returns a view as text for comparing, one item per line.
func (v *View) String() string {
	var b strings.Builder
	for _, o := range v.Outcomes {
		fmt.Fprintf(&b, "%s: %s\n", o.Method, o.End)
	}
	if len(v.Stray) > 0 {
		fmt.Fprintf(&b, "stray: %s\n", strings.Join(v.Stray, ", "))
	}
	for i, s := range v.Sessions {
		fmt.Fprintf(&b, "session %d\n", i+1)
		for _, item := range s.Items {
			item.write(&b, v)
		}
		if s.Plan != nil {
			fmt.Fprintf(&b, "  plan %q\n", s.Plan)
		}
		if len(s.Modes) > 0 {
			fmt.Fprintf(&b, "  modes %v\n", s.Modes)
		}
	}
	return b.String()
}

func (i *Item) write(b *strings.Builder, v *View) {
	switch i.Type {
	case "tool":
		fmt.Fprintf(b, "  tool %s %q %s %s %q at %v", i.Tool, i.Title, i.Kind, i.Status, i.Content, i.Locations)
		if i.Parent {
			b.WriteString(" of a subagent")
		}
		b.WriteByte('\n')
	case "ask":
		var kinds []string
		for _, o := range i.Options {
			kind, _, _ := strings.Cut(o, " ")
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		fmt.Fprintf(b, "  ask %s %v: %s\n", i.Tool, kinds, i.Picked)
	case "elicit":
		fmt.Fprintf(b, "  elicit %q %s: %s\n", i.Text, i.Content, i.Picked)
	case "answer":
		status := i.Status
		if i.Outcome >= 0 {
			status = v.Outcomes[i.Outcome].End
		}
		fmt.Fprintf(b, "  answer %s\n", status)
	case "compaction":
		fmt.Fprintf(b, "  %s %s\n", i.Type, i.Status)
	case "notice":
		fmt.Fprintf(b, "  notice %s %q\n", i.Kind, i.Text)
	default:
		fmt.Fprintf(b, "  %s %q\n", i.Type, i.Text)
	}
}
