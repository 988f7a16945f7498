package editor_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// testRun is the value of the flag -run.
func testRun() string {
	if f := flag.Lookup("test.run"); f != nil {
		return f.Value.String()
	}
	return ""
}

// comparison holds a recorded view and ours. Rules change the recorded view to that of a better
// agent. They may read values from our view that the script does not determine.
type comparison struct {
	script    *recordedScript
	want, got *View
}

// rule is an intended difference. apply reports whether it has changed something.
type rule struct {
	name   string
	reason string
	apply  func(c *comparison) bool
}

// applyRules applies all rules and returns the names of those that have changed something.
func applyRules(c *comparison) (names []string) {
	for _, r := range rules {
		if r.apply(c) {
			names = append(names, r.name)
		}
	}
	return names
}

// rules are all intended differences.
var rules = []rule{
	{"max tokens", "the protocol has a stop reason for it; the adapter answers with an error", func(c *comparison) bool {
		return c.outcomes(func(o *Outcome) bool { return o.Kind == "max_output_tokens" }, "max_tokens")
	}},
	{"max turns", "the protocol has a stop reason for it; the adapter answers with an error", func(c *comparison) bool {
		return c.outcomes(func(o *Outcome) bool { return strings.Contains(o.Detail, "maximum number of turns") }, "max_turn_requests")
	}},
	{"error once", "an error of the API is the answer to the prompt and not also a text of the agent", errorOnce},
	{"plan goes on", "a plan that is refused goes on; the adapter ends the turn as cancelled", planGoesOn},
	{"killed CLI", "a dead CLI is resumed at the next prompt; the adapter knows the session no longer", killedCLI},
	{"authenticate", "an unknown method, or one for a terminal, is a wrong parameter; the adapter says that authenticate is not implemented", func(c *comparison) bool {
		return c.outcomes(func(o *Outcome) bool { return o.Method == "authenticate" && o.End == "error -32603" }, "error -32602")
	}},
	{"not found", "an unknown session is not found whatever is done with it; the adapter has an internal error for fork and for odd ids", func(c *comparison) bool {
		return c.outcomes(func(o *Outcome) bool {
			return (o.Method == "session/fork" || o.Method == "session/load") && o.End == "error -32603"
		}, "error -32002")
	}},
	{"providers", "providers/* is an unstable extension that this agent does not have", func(c *comparison) bool {
		return c.outcomes(func(o *Outcome) bool { return strings.HasPrefix(o.Method, "providers/") }, "error -32601")
	}},
	{"batch", "a batch is answered; it ends the adapter, which answers nothing that follows", batch},
	{"words for the model", "what the CLI writes for its model does not reach the user", wordsForModel},
	{"stopped", "a call that a cancelled turn or request stopped says so, without the CLI's words to the model", stopped},
	{"declined", "a question that was declined or cancelled says so", declined},
	{"background", "work in the background is done when it is done, and what is said of it belongs to the turn", background},
	{"failed plan tools", "calls of plan tools that fail are shown; the adapter hides them", failedPlanTools},
	{"notices", "notices of the CLI and of MCP servers are messages with an id of their own", notices},
	{"CLI notice", "CLI 2.1.325 does not say this any more", droppedNotice},
	{"CLI texts", "what the CLI's own commands put out has other numbers and words from version to version", cliTexts},
	{"said twice", "the output of /context and the end of a compaction are shown once", saidTwice},
	{"always offered", "a command can always be allowed for good; the adapter offers it only for some suggestions", alwaysOffered},
	{"replayed diff", "a replayed edit shows the hunk that was made, as the live one did; the adapter shows the snippet of its input", replayedDiff},
	{"last line", "the number of an empty last line is not shown; the adapter drops it in the main thread and keeps it elsewhere", lastLine},
	{"texts of subagents", "what a subagent says is shown to a client without sessions of subagents, tagged with its call; the adapter shows it only as it streams", subagentTexts},
	{"options of subagents", "the session of a subagent has no mode of its own: nobody can change it", subagentOptions},
	{"mode in step", "a permission that changes the mode says so; the adapter leaves the client with the old one", modeInStep},
}

// outcomes changes the outcomes that match the pattern to another end.
func (c *comparison) outcomes(match func(*Outcome) bool, end string) (changed bool) {
	for i := range c.want.Outcomes {
		if o := &c.want.Outcomes[i]; match(o) {
			o.End, changed = end, true
		}
	}
	return changed
}

// items calls f for every recorded item, with our item of the same call.
func (c *comparison) tools(f func(want, got *Item) bool) (changed bool) {
	for i, s := range c.want.Sessions {
		if i >= len(c.got.Sessions) {
			break
		}
		for _, w := range s.Items {
			if w.Type != "tool" {
				continue
			}
			for _, g := range c.got.Sessions[i].Items {
				if g.Type == "tool" && g.ID == w.ID && f(w, g) {
					changed = true
				}
			}
		}
	}
	return changed
}

// filter removes recorded items.
func (c *comparison) filter(drop func(s *Session, i int) bool) (changed bool) {
	for _, s := range c.want.Sessions {
		var kept []*Item
		for i, item := range s.Items {
			if drop(s, i) {
				changed = true
				continue
			}
			kept = append(kept, item)
		}
		s.Items = kept
	}
	return changed
}

func isUUID(id string) bool { return uuid.MatchString(id) }

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{27}$`)

func errorOnce(c *comparison) bool {
	return c.filter(func(s *Session, i int) bool {
		if s.Items[i].Type != "say" || !isUUID(s.Items[i].ID) || i+1 >= len(s.Items) || s.Items[i+1].Type != "answer" || s.Items[i+1].Outcome < 0 {
			return false
		}
		return strings.HasPrefix(c.want.Outcomes[s.Items[i+1].Outcome].End, "error ")
	})
}

// scripted reports whether a text is in the model's script.
func (c *comparison) scripted(text string) bool {
	return text != "" && strings.Contains(string(c.script.API), strings.Trim(fmt.Sprintf("%q", text), `"`))
}

func planGoesOn(c *comparison) bool {
	changed := false
	for i, s := range c.want.Sessions {
		asked := slices.IndexFunc(s.Items, func(x *Item) bool {
			return x.Type == "ask" && x.Tool == "ExitPlanMode" && x.Picked == "reject_once"
		})
		if asked < 0 {
			continue
		}
		for k := asked; k < len(s.Items); k++ {
			if a := s.Items[k]; a.Type == "answer" && c.want.Outcomes[a.Outcome].End == "cancelled" {
				c.want.Outcomes[a.Outcome].End, changed = "end_turn", true
				says := c.saidAfter(i, "ExitPlanMode")
				if len(says) == 0 {
					says = []*Item{{Type: "say", Text: "what the model says when it is to keep planning"}}
				}
				s.Items = slices.Insert(s.Items, k, says...)
				k += len(says)
			}
		}
	}
	return c.tools(func(w, g *Item) bool {
		if w.Tool != "ExitPlanMode" || w.Status != "failed" {
			return false
		}
		w.Content = []string{"```\nThe user wants to keep planning.\n```"}
		return true
	}) || changed
}

// saidAfter returns the scripted text that our agent sends after the last tool call.
func (c *comparison) saidAfter(session int, tool string) (says []*Item) {
	if session >= len(c.got.Sessions) {
		return nil
	}
	for _, g := range c.got.Sessions[session].Items {
		switch {
		case g.Tool == tool:
			says = nil
		case g.Type == "say" && c.scripted(g.Text):
			says = append(says, g)
		}
	}
	return says
}

func killedCLI(c *comparison) bool {
	death, changed := -1, false
	for i := range c.want.Outcomes {
		died := i > 0 && strings.Contains(c.want.Outcomes[i-1].Detail, "exited unexpectedly")
		if o := &c.want.Outcomes[i]; died && o.Method == "session/prompt" && o.End == "error -32002" {
			o.End, death, changed = "end_turn", i-1, true
		}
	}
	if !changed {
		return false
	}
	for i, s := range c.want.Sessions {
		if i < len(c.got.Sessions) && c.continuesAfter(s, c.got.Sessions[i], death) {
			s.Items = c.got.Sessions[i].Items
		}
	}
	return true
}

// continuesAfter reports whether our session has everything that was recorded up to the death of the CLI, and the later texts
// of the model. The replay may lack the killed prompt only if this was reported to the client.
func (c *comparison) continuesAfter(want, got *Session, death int) bool {
	told := death < len(c.got.Outcomes) && c.got.Outcomes[death].Kind == "prompt_lost"
	end := slices.IndexFunc(want.Items, func(i *Item) bool { return i.Type == "answer" && i.Outcome == death })
	if end >= 0 { // in the session itself: the same items before the death, then texts of the model
		same := len(got.Items) > end
		for k := 0; same && k <= end; k++ {
			a, b := want.Items[k], got.Items[k]
			cut := k == end-1 && b.Text != "" && c.scripted(b.Text) // the cut is at a random position
			same = a.Type == b.Type && (a.Text == b.Text || cut) && a.Outcome == b.Outcome
		}
		said := 0
		for _, g := range got.Items[min(end+1, len(got.Items)):] {
			if g.Type == "say" && c.scripted(g.Text) {
				said++
			} else if g.Type != "answer" {
				return false
			}
		}
		return same && said > 0
	}
	rest := got.Items
	for _, w := range want.Items { // the replay contains the recorded items, in order
		k := slices.IndexFunc(rest, func(g *Item) bool { return g.Type == w.Type && g.Text == w.Text })
		if k < 0 && !(w.Type == "user" && told) {
			return false
		}
		rest = rest[k+1:]
	}
	return !slices.ContainsFunc(got.Items, func(g *Item) bool {
		return g.Type != "answer" && g.Type != "user" && !(g.Type == "say" && c.scripted(g.Text))
	})
}

func batch(c *comparison) bool {
	if !slices.Contains(c.got.Stray, "batch") || slices.Contains(c.want.Stray, "batch") {
		return false
	}
	// Requests after the batch were not answered, and a request of an unknown version was
	// answered without its id.
	for i := range c.want.Outcomes {
		if c.want.Outcomes[i].End == "none" && i < len(c.got.Outcomes) {
			c.want.Outcomes[i].End = "error -32600"
		}
	}
	for i := len(c.want.Outcomes); i < len(c.got.Outcomes); i++ {
		c.want.Outcomes = append(c.want.Outcomes, Outcome{Method: "session/list", End: "ok"})
	}
	c.want.Stray = []string{"error -32700", "batch", "error -32600"}
	return true
}

var usedTools = regexp.MustCompile(`(?s)<tools-used-before-summary>.*?</tools-used-before-summary>`)

func wordsForModel(c *comparison) bool {
	return c.tools(func(w, g *Item) bool {
		before := fmt.Sprint(w.Content)
		var kept []string
		for _, text := range w.Content {
			text = strings.NewReplacer("<tool_use_error>Error: ", "", "<tool_use_error>", "", "</tool_use_error>", "").Replace(text)
			if usedTools.MatchString(text) {
				if text = strings.TrimSpace(usedTools.ReplaceAllString(text, "")); text == "" {
					continue
				}
			}
			if strings.Contains(text, "Entered plan mode. You should") {
				text, _, _ = strings.Cut(text, "\n\n") // instructions follow
			}
			if strings.Contains(text, "Async agent launched") || strings.Contains(text, "running in background with ID") {
				// The prompt or description of the call remains.
				if text = "what the call is about"; len(g.Content) == 1 && c.scripted(g.Content[0]) {
					text = g.Content[0]
				}
			}
			kept = append(kept, text)
		}
		w.Content = kept
		return fmt.Sprint(w.Content) != before
	})
}

func stopped(c *comparison) bool {
	return c.tools(func(w, g *Item) bool {
		text := strings.Join(w.Content, "\n")
		cancelled := slices.ContainsFunc(c.want.Outcomes, func(o Outcome) bool { return o.End == "cancelled" })
		aborted := w.Tool != "AskUserQuestion" && strings.Contains(text, "Tool use aborted")
		byTurn := cancelled && (strings.Contains(text, "Tool use aborted") || strings.Contains(text, "doesn't want to proceed") || strings.Contains(text, "interrupted by user"))
		if w.Status != "failed" || !aborted && !byTurn {
			return false
		}
		w.Content = []string{"```\nStopped.\n```"}
		return true
	})
}

func declined(c *comparison) bool {
	return c.tools(func(w, g *Item) bool {
		text := strings.Join(w.Content, "\n")
		if w.Tool != "AskUserQuestion" || !strings.Contains(text, "Tool use aborted") && !strings.Contains(text, "did not answer") {
			return false
		}
		w.Status, w.Content = "failed", []string{"```\nThe user declined to answer.\n```"}
		return true
	})
}

func background(c *comparison) bool {
	late := false
	for k, s := range c.want.Sessions {
		n := len(s.Items)
		last := -1
		for i, item := range s.Items {
			if item.Type == "answer" {
				last = i
			}
		}
		if last < 0 || last >= n-1 || s.Items[n-1].Type != "say" || !c.scripted(s.Items[n-1].Text) {
			continue
		}
		answer := s.Items[last]
		s.Items = append(slices.Delete(s.Items, last, last+1), answer)
		late = true
		if k >= len(c.got.Sessions) || !slices.ContainsFunc(c.got.Sessions[k].Items, func(g *Item) bool {
			return g.Type == "tool" && g.Tool == "Bash" && slices.Contains(g.Statuses, "in_progress") && g.Status == "completed"
		}) {
			s.Items = append(s.Items, &Item{Type: "notice", Text: "no command was in progress and then completed"})
		}
	}
	return late
}

func failedPlanTools(c *comparison) bool {
	changed := false
	for i, s := range c.want.Sessions {
		if i >= len(c.got.Sessions) {
			break
		}
		for k, g := range c.got.Sessions[i].Items {
			plan := g.Tool == "TaskCreate" || g.Tool == "TaskUpdate" || g.Tool == "TodoWrite" || g.Tool == "TaskList" || g.Tool == "TaskGet"
			if g.Type != "tool" || !plan || g.Status != "failed" || k > len(s.Items) {
				continue
			}
			if len(g.Content) != 1 || len(strings.Trim(g.Content[0], "`\n ")) == 0 || slices.ContainsFunc(s.Items, func(w *Item) bool { return w.ID == g.ID }) {
				continue // it is empty, or the adapter shows it too
			}
			if g.Tool == "TodoWrite" && strings.Contains(g.Content[0], "disabled for this session") {
				s.Plan = nil // CLI 2.1.325 no longer has this tool
			}
			s.Items, changed = slices.Insert(s.Items, k, g), true
		}
	}
	return changed
}

// plainNotice returns a notice without its label.
func plainNotice(text string) string {
	if rest, ok := strings.CutPrefix(text, "**"); ok {
		if _, body, ok := strings.Cut(rest, ":** "); ok {
			return body
		}
	}
	return text
}

func notices(c *comparison) bool {
	changed := false
	for i, s := range c.want.Sessions {
		for _, w := range s.Items {
			if w.Type != "say" || !w.Meta || i >= len(c.got.Sessions) {
				continue
			}
			if m := brokenServer.FindStringSubmatch(w.Text); m != nil {
				w.Text, changed = "**Warning:** The MCP server "+m[1]+" failed to start: its tools are not available.", true
				continue
			}
			for _, g := range c.got.Sessions[i].Items {
				if g.Type == "say" && strings.HasPrefix(g.ID, "notice-") && plainNotice(g.Text) == plainNotice(w.Text) {
					w.Text, changed = g.Text, true
				}
			}
		}
	}
	return changed
}

var brokenServer = regexp.MustCompile(`^\*\*MCP server ("[^"]*") failed to start:\*\*`)

func droppedNotice(c *comparison) bool {
	return c.filter(func(s *Session, i int) bool {
		return s.Items[i].Meta && strings.Contains(s.Items[i].Text, "changing auto mode")
	})
}

func cliTexts(c *comparison) bool {
	changed := false
	for i, s := range c.want.Sessions {
		if i >= len(c.got.Sessions) {
			break
		}
		for _, w := range s.Items {
			if w.Type != "say" {
				continue
			}
			for _, g := range c.got.Sessions[i].Items {
				if g.Type == "say" && w.Text != g.Text && sameButNumbers(w.Text, g.Text) {
					w.Text, changed = g.Text, true
				}
			}
			if now, ok := otherTexts[w.Text]; ok {
				w.Text, changed = now, true
			}
		}
	}
	return changed
}

// otherTexts maps texts of the recorded CLI to those of the pinned one.
var otherTexts = map[string]string{
	"No MCP servers are configured.": "No MCP servers are configured. Add one with `claude mcp add`.\nUsage: /mcp [reconnect|enable|disable [<server>|all]]. With no server name, applies to all.",
}

var number = regexp.MustCompile(`(?:\d+h )?(?:\d+m )?(?:< ?|~|\$)*\d[\d.,]*[kms]?%?`)

// sameButNumbers compares the outputs of a command that counts, ignoring the numbers.
func sameButNumbers(a, b string) bool {
	for _, start := range []string{"## Context Usage", "Total cost:"} {
		if strings.HasPrefix(a, start) && strings.HasPrefix(b, start) {
			return number.ReplaceAllString(strings.TrimSpace(a), "N") == number.ReplaceAllString(strings.TrimSpace(b), "N")
		}
	}
	return false
}

func saidTwice(c *comparison) bool {
	return c.filter(func(s *Session, i int) bool {
		if i == 0 {
			return false
		}
		a, b := s.Items[i-1], s.Items[i]
		return a.Type == b.Type && (b.Type == "say" && strings.TrimSpace(a.Text) == strings.TrimSpace(b.Text) && isUUID(b.ID) || b.Type == "compaction" && a.Status == b.Status)
	})
}

func alwaysOffered(c *comparison) bool {
	changed := false
	for _, s := range c.want.Sessions {
		for _, w := range s.Items {
			if w.Type == "ask" && w.Tool == "Bash" && !slices.ContainsFunc(w.Options, func(o string) bool { return strings.HasPrefix(o, "allow_always") }) {
				w.Options, changed = slices.Insert(w.Options, 1, "allow_always x"), true
			}
		}
	}
	return changed
}

func replayedDiff(c *comparison) bool {
	live := map[string]*Item{}
	changed := false
	for _, s := range c.want.Sessions {
		for _, w := range s.Items {
			if w.Type != "tool" || w.Tool != "Edit" {
				continue
			}
			if before := live[w.ID]; before != nil && fmt.Sprint(before.Content) != fmt.Sprint(w.Content) {
				w.Content, w.Locations, changed = before.Content, before.Locations, true
			}
			live[w.ID] = w
		}
	}
	return changed
}

var emptyLast = regexp.MustCompile("\n[0-9]+\t\n```$")

func lastLine(c *comparison) bool {
	return c.tools(func(w, _ *Item) bool {
		changed := false
		for i, text := range w.Content {
			if w.Tool == "Read" && emptyLast.MatchString(text) {
				w.Content[i], changed = emptyLast.ReplaceAllString(text, "\n```"), true
			}
		}
		return changed
	})
}

func subagentTexts(c *comparison) (changed bool) {
	for _, s := range c.got.Sessions {
		s.Items = slices.DeleteFunc(s.Items, func(i *Item) bool {
			tagged := i.Parent && (i.Type == "say" || i.Type == "think")
			changed = changed || tagged
			return tagged
		})
	}
	return changed
}

func subagentOptions(c *comparison) (changed bool) {
	for _, s := range c.want.Sessions {
		if len(s.Items) > 0 && s.Items[0].Parent && len(s.Modes) > 0 {
			s.Modes, changed = nil, true
		}
	}
	return changed
}

func modeInStep(c *comparison) bool {
	changed := false
	for _, s := range c.want.Sessions {
		always := slices.ContainsFunc(s.Items, func(x *Item) bool {
			return x.Type == "ask" && x.Picked == "allow_always" && (x.Tool == "Edit" || x.Tool == "Write" || x.Tool == "MultiEdit")
		})
		if always && len(s.Modes) == 0 {
			s.Modes, changed = []string{"acceptEdits"}, true
		}
	}
	return changed
}

// orderSubagents moves the calls of subagents directly after the call that began them, in both
// views, because background subagents run concurrently.
func orderSubagents(v *View) {
	for _, s := range v.Sessions {
		first := slices.IndexFunc(s.Items, func(i *Item) bool { return i.Type == "tool" && i.Tool == "Agent" && !i.Parent })
		if first < 0 {
			continue
		}
		var theirs, others []*Item
		for _, i := range s.Items[first+1:] {
			if i.Parent {
				theirs = append(theirs, i)
			} else {
				others = append(others, i)
			}
		}
		s.Items = slices.Concat(s.Items[:first+1], theirs, others)
	}
}

// trimGone removes the end of a turn that the end of the client has cut off, because the agent may
// or may not write it before it exits.
func trimGone(c *comparison) {
	for i, o := range c.want.Outcomes {
		if o.End != "none" || i >= len(c.got.Outcomes) || c.got.Outcomes[i].End != "cancelled" {
			continue
		}
		c.got.Outcomes[i] = o
		for _, s := range c.got.Sessions {
			s.Items = slices.DeleteFunc(s.Items, func(it *Item) bool { return it.Type == "answer" && it.Outcome == i })
		}
	}
}

// trimUnfinished removes everything after the answer to the last prompt of version 2 from our view
// if the recording ends there. The script does not wait for the turn, so the turn may or may not
// end before the client disconnects.
func trimUnfinished(c *comparison) {
	trimGone(c)
	for i, s := range c.want.Sessions {
		n := len(s.Items)
		if i >= len(c.got.Sessions) || n == 0 || len(c.got.Sessions[i].Items) <= n || c.script.Protocol != 2 {
			continue
		}
		if last := s.Items[n-1]; last.Type == "answer" && last.Outcome >= 0 {
			c.got.Sessions[i].Items = c.got.Sessions[i].Items[:n]
		}
	}
}
