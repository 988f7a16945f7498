package main

import (
	"fmt"
	"slices"
	"strings"
)

// embed returns the text of a file with all its changes. Each function begins with copies of its body, one for each change, and
// mutantID selects the one that runs: one build serves a whole sample. mutantHit reports which changes a test reaches.
func embed(text string, changes []*change) string {
	byBody := map[[2]int][]*change{}
	for _, c := range changes {
		byBody[c.Body] = append(byBody[c.Body], c)
	}
	var edits []edit
	for body, list := range byBody {
		inner := text[body[0]:body[1]]
		var copies strings.Builder
		hits := []edit{}
		for _, c := range list {
			one := []edit{{c.Start, c.End, c.New}}
			for _, end := range c.Labels {
				if end <= c.Start || end > c.End {
					one = append(one, edit{end, end, fmt.Sprint("_", c.id)})
				}
			}
			changed := apply(text, body, one)
			switch {
			case c.Expr:
				fmt.Fprintf(&copies, "(mutantHit(%d), mutantID == %d) ? (%s) : ", c.id, c.id, changed)
				continue
			case c.Results:
				fmt.Fprintf(&copies, "if (mutantIs(%d)) {%s\n}\n", c.id, changed)
			default:
				fmt.Fprintf(&copies, "if (mutantIs(%d)) {%s\nreturn;\n}\n", c.id, changed)
			}
			hits = append(hits, edit{c.At, c.At, fmt.Sprintf("mutantHit(%d);", c.id)})
		}
		if list[0].Expr {
			inner = "(" + copies.String() + "(" + inner + "))"
		} else {
			inner = copies.String() + apply(text, body, hits)
		}
		edits = append(edits, edit{body[0], body[1], inner})
	}
	return apply(text, [2]int{0, len(text)}, edits)
}

// edit replaces the text between two offsets.
type edit struct {
	start, end int
	is         string
}

// apply returns a part of a text with the edits applied. The edits must not overlap.
func apply(text string, part [2]int, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	at := part[0]
	for _, e := range edits {
		out.WriteString(text[at:e.start])
		out.WriteString(e.is)
		at = e.end
	}
	out.WriteString(text[at:part[1]])
	return out.String()
}

// The helpers of embedded changes, in Go and in TypeScript.
const (
	goPrelude = `
import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var mutantID, _ = strconv.Atoi(os.Getenv("PARLEY_MUTANT"))

var mutantTrace = os.Getenv("PARLEY_MUTANT_TRACE")

var mutantSeen sync.Map

func mutantIs(id int) bool { return mutantID == id }

func mutantHit(id int) {
	if mutantTrace == "" {
		return
	}
	if _, seen := mutantSeen.LoadOrStore(id, true); seen {
		return
	}
	if f, err := os.OpenFile(mutantTrace, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
		fmt.Fprintln(f, id)
		f.Close()
	}
}
`
	tsPrelude = `import { appendFileSync as mutantAppend } from "node:fs";
const mutantID = Number(process.env.PARLEY_MUTANT);
const mutantTrace = process.env.PARLEY_MUTANT_TRACE;
const mutantSeen = new Set();
function mutantIs(id) { return mutantID === id; }
function mutantHit(id) {
  if (mutantTrace && !mutantSeen.has(id)) {
    mutantSeen.add(id);
    mutantAppend(mutantTrace, id + "\n");
  }
}
`
)
