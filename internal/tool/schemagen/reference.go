package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server"
)

// reference writes the rows of methods into the page that documents them.
func reference(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	out, err := withRows(string(text), server.Methods())
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(out), 0o644)
}

// withRows returns the page with one row for each method. It inserts a missing row after the last row of the method's
// group. The group is the part of the name before the dot.
func withRows(page string, methods []server.Method) (string, error) {
	rows := map[string]string{}
	for _, m := range methods {
		rows[m.Name] = fmt.Sprintf("| `%s` | %s |", m.Name, m.Doc)
	}
	head, tail, _ := strings.Cut(page, "## Reasons")
	var lines []string
	last := map[string]string{} // the last row of a group
	for line := range strings.SplitSeq(head, "\n") {
		if name := rowName(line); name != "" {
			row, ok := rows[name]
			if !ok {
				continue // the method no longer exists
			}
			line, last[group(name)] = row, row
			delete(rows, name)
		}
		lines = append(lines, line)
	}
	for _, m := range methods {
		row, missing := rows[m.Name]
		if !missing {
			continue
		}
		i := slices.Index(lines, last[group(m.Name)])
		if last[group(m.Name)] == "" {
			return "", fmt.Errorf("%s is the first of its group: add a section with a row `%s`", m.Name, m.Name)
		}
		lines = slices.Insert(lines, i+1, row)
		last[group(m.Name)] = row
	}
	return strings.Join(lines, "\n") + "## Reasons" + tail, nil
}

// rowName returns the method of a row of a table, or "" for any other line.
func rowName(line string) string {
	rest, ok := strings.CutPrefix(line, "| `")
	name, _, found := strings.Cut(rest, "` |")
	if !ok || !found {
		return ""
	}
	return name
}

func group(name string) string {
	group, _, _ := strings.Cut(name, ".")
	return group
}
