package claude_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claudetest"
)

// rule allows a difference between this SDK and the official one.
type rule struct {
	name    string
	applies func(*comparison) bool // looks at the recording, never at its name
	allows  string
	why     string
	other   bool // no recording of the project's own needs it
}

// rules are all differences that are allowed.
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
		name: "nothing started: refused session id",
		applies: func(c *comparison) bool {
			return c.opts.SessionID != "" && len(c.proc.Stdout) == 0 && c.proc.Exit.Code != 0
		},
		allows: "an error about the option instead of the CLI's",
		why:    "what the CLI is known to refuse is refused before the start",
	},
	{
		name:    "a refusal is the error of Connect",
		applies: func(c *comparison) bool { return c.got.Via == claudetest.ViaConnect && !answersInitialize(c.proc) },
		allows:  "a CLI that does not answer gets no prompt; the result that it refuses with is in the error, not among the messages",
		why:     "Connect waits for the handshake; without one there is no client",
	},
	{
		name:    "the SDK names itself",
		applies: func(c *comparison) bool { return c.proc.Env.Added["CLAUDE_AGENT_SDK_VERSION"] != "" },
		allows:  "other values of CLAUDE_AGENT_SDK_VERSION and CLAUDE_CODE_ENTRYPOINT, no NoDefaultCurrentDirectoryInExePath",
		why:     "it is another SDK; the third concerns how Node starts programs on Windows",
	},
	{
		name:    "no startup marks",
		applies: func(c *comparison) bool { return c.call.API == "startup" },
		allows:  "no CLAUDE_CODE_SDK_READS_STARTUP_MARKS",
		why:     "the marks are for the official SDK's own measurements",
		other:   true,
	},
	{
		name:    "a Client names its prompts",
		applies: func(c *comparison) bool { return c.got.Via == claudetest.ViaConnect },
		allows:  "a uuid on user lines that have none",
		why:     "turns are told apart by it",
	},
	{
		name:    "a Client names no session",
		applies: func(c *comparison) bool { return c.got.Via == claudetest.ViaConnect && c.call.Prompt != nil },
		allows:  `no session_id "" on the user line`,
		why:     "the CLI does not read it; the official SDK writes it for prompts of one string alone",
	},
	{
		name: "an error is an error",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.rec.SDK, func(r claudetest.SDKRecord) bool { return r.Kind == "call" && string(r.Result) == "null" })
		},
		allows: "the CLI's error where the official method returns null",
		why:    "Control returns what the CLI answered",
	},
	{
		name: "an Allow says what runs",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.call.Answers, func(a claudetest.Answer) bool {
				m, _ := value(a.Return).(map[string]any)
				return m["behavior"] == "allow" && m["updatedInput"] == nil
			})
		},
		allows: "the input that was asked about in an answer that says nothing of it",
		why:    "older CLIs want it in every answer",
	},
	{
		name: "a request that was taken back is not answered",
		applies: func(c *comparison) bool {
			return slices.ContainsFunc(c.call.Answers, func(a claudetest.Answer) bool { return a.CancelledByLine > 0 && a.AnswerLine > 0 })
		},
		allows: "no answer that comes after the cancellation",
		why:    "the CLI ignores it",
	},
	{
		name:    "nonsense is an error",
		applies: func(c *comparison) bool { return c.call.Unsayable() },
		allows:  "an error answer where the official SDK passes on what is no answer",
		why:     "no type here can say it; the tool does not run either way",
	},
	{
		name:    "session functions are another package's",
		applies: func(c *comparison) bool { return len(c.rec.Caller.After) > 0 },
		allows:  "functions that were called behind the calls are not called",
		why:     "reading and changing transcripts is not for package claude",
	},
}

func notObject(line string) bool {
	return !strings.HasPrefix(strings.TrimSpace(line), "{")
}

func abortsBefore(s claudetest.Step) bool {
	return s.Do == "abort" && s.When.Event == "before_start"
}

func answersInitialize(p *claudetest.RecordedProcess) bool {
	for _, ev := range p.Timeline {
		if ev.Dir == "out" && ev.Type == "control_response" {
			return true
		}
	}
	return false
}

// ruleBook knows which rules were needed.
type ruleBook struct{ used map[string]int }

func newRuleBook() *ruleBook { return &ruleBook{used: map[string]int{}} }

// allowed reports whether a rule allows what a call differs in.
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

// checkUsed fails for rules that nothing needs.
func (b *ruleBook) checkUsed(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(b.used)) {
		t.Logf("rule %q: needed %d times", name, b.used[name])
	}
	if otherCorpus() || t.Failed() {
		return
	}
	for _, r := range rules {
		if b.used[r.name] == 0 && !r.other {
			t.Errorf("no recording needs the rule %q", r.name)
		}
	}
}
