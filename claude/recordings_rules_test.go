package claude_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/tape"
)

// rule allows a difference between this SDK and the official one.
type rule struct {
	name    string
	applies func(*comparison) bool // examines the recording, never its name
	allows  string
	why     string
	other   bool // no recording of the project needs it
}

// rules are all allowed differences.
var rules = []rule{
	{
		name:    "bad lines are data",
		applies: func(c *comparison) bool { return slices.ContainsFunc(c.proc.Stdout, notObject) },
		allows:  "a BadLine for each line of output that is no JSON object, blank ones excepted",
		why:     "the official SDK drops such lines in silence; a caller who wants that ignores the type",
	},
	{
		name:    "nothing started: aborted before",
		applies: func(c *comparison) bool { return slices.ContainsFunc(c.call.Steps, abortsBefore) },
		allows:  "no process",
		why:     "the official SDK starts the CLI of a call that has been aborted, and ends it at once",
	},
	{
		name:    "an end in a turn interrupts it",
		applies: func(c *comparison) bool { return slices.ContainsFunc(c.call.Steps, endsEarly) },
		allows:  "an interrupt before the input ends, and its taking back where it is not answered",
		why:     "a CLI whose input ends goes on with its turn; the official SDK lets it start tools until it is killed",
	},
	{
		name: "nothing started: refused session id",
		applies: func(c *comparison) bool {
			return c.opts.SessionID != "" && len(c.proc.Stdout) == 0 && c.proc.Exit.Code != 0
		},
		allows: "an error about the option instead of the CLI's",
		why:    "what the CLI is known to refuse is refused before the start",
	},
	{
		name:    "nothing started: Continue with Resume",
		applies: func(c *comparison) bool { return c.opts.Continue && c.opts.Resume != "" },
		allows:  "an error about the options and no messages",
		why:     "they name two sessions; the official SDK sends both, and the CLI takes one without a word",
	},
	{
		name: "a refusal is the error of Connect",
		applies: func(c *comparison) bool {
			return (c.got.Via == viaConnect || c.got.Via == viaPrewarm) && !answersInitialize(c.proc)
		},
		allows: "a CLI that does not answer gets no prompt; the result that it refuses with is in the error, not among the messages",
		why:    "Connect waits for the handshake; without one there is no client",
	},
	{
		name:    "the SDK names itself",
		applies: func(c *comparison) bool { return c.proc.Env.Added["CLAUDE_AGENT_SDK_VERSION"] != "" },
		allows:  "other values of CLAUDE_AGENT_SDK_VERSION and CLAUDE_CODE_ENTRYPOINT, no NoDefaultCurrentDirectoryInExePath",
		why:     "it is another SDK; the third concerns how Node starts programs on Windows",
	},
	{
		name: "no secret in an argument",
		applies: func(c *comparison) bool {
			set := flagSet(c.proc.Argv)
			return set["--settings"] != nil || set["--mcp-config"] != nil || set["--managed-settings"] != nil
		},
		allows: "the same settings and servers in a file that the argument names, the same managed settings in initialize",
		why:    "every user of the machine can read the arguments of a process",
	},
	{
		name:    "a Client names its prompts",
		applies: func(c *comparison) bool { return c.got.Via == viaConnect },
		allows:  "a uuid on user lines that have none",
		why:     "turns are told apart by it",
	},
	{
		name:    "a Client names no session",
		applies: func(c *comparison) bool { return c.got.Via == viaConnect && c.call.Prompt != nil },
		allows:  `no session_id "" on the user line`,
		why:     "the CLI does not read it; the official SDK writes it for prompts of one string alone",
	},
	{
		name: "an error is an error",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.rec.SDK, func(r sdkRecord) bool { return r.Kind == "call" && string(r.Result) == "null" })
		},
		allows: "the CLI's error where the official method returns null",
		why:    "Control returns what the CLI answered",
	},
	{
		name:    "no answer to what was taken back",
		applies: func(c *comparison) bool { return slices.ContainsFunc(c.call.Answers, cancelled) },
		allows:  "no answer to a request that the CLI has cancelled",
		why:     "the CLI does not read it",
	},
	{
		name:    "a callback that runs is waited for",
		applies: func(c *comparison) bool { return slices.ContainsFunc(c.call.Answers, unsent) },
		allows:  "the answer of a callback that the official SDK closed the input under",
		why:     "the input stays open as long as a callback runs; what it says may matter",
	},
	{
		name: "an allow says the input",
		applies: returns(func(answer any) bool {
			return at(answer, "behavior") == "allow" && at(answer, "updatedInput") == nil
		}),
		allows: "updatedInput with the input that was asked about",
		why:    "older CLIs refuse an allow without",
	},
	{
		name: "an allow waits for the hook",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool {
				return a.HookEventName == "PermissionRequest" && at(value(a.Return), "hookSpecificOutput", "decision", "behavior") == "deny"
			})
		},
		allows: "the deny of a PermissionRequest hook in the place of an allow that overtook it",
		why:    "to the CLI the first answer counts; a refusal must not depend on who is faster",
	},
	{
		name:    "a deny has a message",
		applies: returns(func(answer any) bool { return at(answer, "behavior") == "deny" && at(answer, "message") == nil }),
		allows:  "a message of our own",
		why:     "the CLI refuses a deny without one",
		other:   true,
	},
	{
		name: "an answer is an allow or a deny",
		applies: returns(func(answer any) bool {
			return answer != nil && at(answer, "behavior") != "allow" && at(answer, "behavior") != "deny"
		}),
		allows: "an error answer",
		why:    "the types have no other answers",
	},
	{
		name:    "a hook that fails refuses",
		applies: hookFails,
		allows:  "a refusal in the place of an error answer",
		why:     "of a hook that throws the CLI only warns, and runs the tool that the hook was to guard",
	},
	{
		name:    "an output that the CLI would throw away is a failure",
		applies: hookMistaken,
		allows:  "a refusal in the place of an output that is none",
		why:     "the CLI throws such an output away, and runs the tool that it refuses",
	},
	{
		name: "the SDK answers in its own words",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.call.Answers, func(a recordedAnswer) bool { return a.NotCalled != nil })
		},
		allows: "another text of the error when the SDK refuses arguments, or a tool, by itself",
		why:    "it comes from another library for JSON schema",
	},
	{
		name:    "servers have no order",
		applies: func(c *comparison) bool { return len(c.call.Options["mcpServers"]) > 0 },
		allows:  "another order of the names of in-process servers",
		why:     "they are a map",
		other:   true,
	},
	{
		name:    "no execution in the definition of a tool",
		applies: definesTools,
		allows:  "no execution member",
		why:     "the official MCP SDK for TypeScript says that it has no tasks; the one for Go says nothing, which means the same",
	},
	{
		name:    "a hint that is false is said",
		applies: annotates,
		allows:  "hints of a tool that are false",
		why:     "the MCP SDK for Go writes them; false is what they are when they are not said",
	},
	{
		name:    "session functions are another package's",
		applies: func(c *comparison) bool { return len(c.rec.Caller.After) > 0 },
		allows:  "functions that were called behind the calls are not called",
		why:     "reading and changing transcripts is not for package claude",
	},
}

func cancelled(a recordedAnswer) bool { return a.CancelledByLine > 0 }

func notObject(line string) bool {
	return !strings.HasPrefix(strings.TrimSpace(line), "{")
}

func abortsBefore(s recordedStep) bool {
	return s.Do == "abort" && s.When.Event == "before_start"
}

// endsEarly reports whether a caller ends a call with a step before its CLI does.
func endsEarly(s recordedStep) bool {
	return s.Do == "abort" || s.Do == "close" || s.Do == "stop_reading"
}

func answersInitialize(p *tape.Process) bool {
	return slices.ContainsFunc(p.Timeline, func(ev tape.Event) bool { return ev.Dir == "out" && ev.Type == "control_response" })
}

// ruleBook records which rules were used.
type ruleBook struct{ used map[string]int }

func newRuleBook() *ruleBook { return &ruleBook{used: map[string]int{}} }

// allowed reports whether a rule allows a difference of a call.
func (b *ruleBook) allowed(name string, c *comparison) bool {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
	if i < 0 {
		c.t.Fatalf("there is no rule %q", name)
	}
	if !rules[i].applies(c) {
		return false
	}
	b.used[name]++
	return true
}

// checkUsed fails for unused rules.
func (b *ruleBook) checkUsed(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(b.used)) {
		t.Logf("rule %q: needed %d times", name, b.used[name])
	}
	if otherCorpus() || t.Failed() || testing.Short() {
		return
	}
	for _, r := range rules {
		if b.used[r.name] == 0 && !r.other {
			t.Errorf("no recording needs the rule %q", r.name)
		}
	}
}
