package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// hookScene makes the CLI fire events. Every scene also fires the events of a turn.
type hookScene struct {
	replies []claudetest.Reply
	setup   func(w *world, hooks *hook.Hooks)
	drive   func(w *world, c *claude.Client, l *hookLog) // nil: one prompt
	want    []string
	may     []string // events of want that may be missing
}

func bash(command string) claudetest.Block {
	return claudetest.ToolUse("Bash", map[string]any{"command": command, "description": "run it"})
}

func calls(blocks ...claudetest.Block) claudetest.Reply { return claudetest.Reply{Blocks: blocks} }

func ask(w *world, c *claude.Client, prompts ...string) {
	w.t.Helper()
	for _, p := range prompts {
		if got := collect(c.Query(w.t.Context(), p)); got.err != nil || len(got.results()) != 1 {
			w.t.Fatalf("%s: %v, %v; want got.err == nil and len(got.results()) == 1", p, got.kinds(), got.err)
		}
	}
}

var (
	turnEvents = []string{"MessageDisplay", "Stop", "UserPromptSubmit"}
	toolEvents = []string{"PreToolUse", "PostToolBatch"}
)

// git makes the working directory a repository with one commit.
func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.email=dev@example.com", "-c", "user.name=dev"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func extServer(t *testing.T) map[string]claude.MCPServer {
	script, err := filepath.Abs(filepath.FromSlash("../../../testdata/wire-servers/stdio-mcp.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]claude.MCPServer{"ext": {Command: nodePath(t), Args: []string{script}}}
}

// cdSettings are command hooks: the CLI watches the directory and files only if settings
// also have such a hook.
const cdSettings = `{"hooks":{"CwdChanged":[{"hooks":[{"type":"command","command":"true"}]}],` +
	`"FileChanged":[{"matcher":"watched.txt","hooks":[{"type":"command","command":"true"}]}]}}`

var hookScenes = map[string]hookScene{
	"tools": {
		replies: []claudetest.Reply{calls(bash("echo hi"), bash("false")), claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) {
			w.write("CLAUDE.md", "be nice\n")
			w.opts.SettingSources, w.opts.AllowedTools = []string{"project"}, []string{"Bash"}
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "PostToolUseFailure", "InstructionsLoaded"}),
		// A slow CLI reads the file before it has the hooks.
		may: []string{"InstructionsLoaded"},
	},
	"subagent": {
		replies: []claudetest.Reply{claudetest.Use("Agent", map[string]any{"description": "d", "prompt": "SUBPROMPT", "subagent_type": "general-purpose", "name": "bob"}),
			claudetest.Say("sub").When(claudetest.Match{LastIncludes: "SUBPROMPT"}), claudetest.Say("one"), claudetest.Say("two")},
		setup: func(w *world, _ *hook.Hooks) {
			w.opts.AllowedTools = []string{"Agent"}
			// With teams of agents; still TeammateIdle does not fire.
			w.opts.Env["CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"] = "1"
		},
		drive: func(w *world, c *claude.Client, l *hookLog) {
			ask(w, c, "go")
			l.until("SubagentStop", nil)
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "SubagentStart", "SubagentStop"}),
	},
	"compact": {
		replies: []claudetest.Reply{claudetest.Say("one"), claudetest.Say("a summary")},
		drive:   func(w *world, c *claude.Client, _ *hookLog) { ask(w, c, "go", "/compact be brief") },
		want:    slices.Concat(turnEvents, []string{"PreCompact", "PostCompact", "SessionStart", "SubagentStop"}),
	},
	"clear": {
		replies: []claudetest.Reply{claudetest.Say("one")},
		drive:   func(w *world, c *claude.Client, _ *hookLog) { ask(w, c, "go", "/clear") },
		want:    slices.Concat(turnEvents, []string{"SessionEnd", "SessionStart"}),
	},
	"model": {
		replies: []claudetest.Reply{claudetest.Say("one"), claudetest.Say("two")},
		drive: func(w *world, c *claude.Client, _ *hookLog) {
			ask(w, c, "go")
			ok[string](w.t)(c.SetModel(w.t.Context(), "claude-sonnet-5"))
			ask(w, c, "go on")
		},
		want: slices.Concat(turnEvents, []string{"PreModelSwitch", "PostModelSwitch"}),
	},
	"permission": {
		replies: []claudetest.Reply{calls(bash("touch f1")), claudetest.Say("done")},
		setup:   func(w *world, _ *hook.Hooks) { w.opts.PermissionPromptToolName = "stdio" },
		want:    slices.Concat(turnEvents, toolEvents, []string{"PermissionRequest"}),
	},
	"denied by a mode": {
		replies: []claudetest.Reply{calls(bash("touch f1")), claudetest.Say("done")},
		setup:   func(w *world, _ *hook.Hooks) { w.opts.PermissionMode = message.ModeDontAsk },
		want:    slices.Concat(turnEvents, toolEvents),
	},
	"denied by the classifier": {
		replies: []claudetest.Reply{calls(bash("rm -rf /nowhere/x")), claudetest.Say("done")},
		setup:   func(w *world, _ *hook.Hooks) { w.opts.PermissionMode = message.ModeAuto },
		want:    slices.Concat(turnEvents, toolEvents, []string{"PermissionDenied"}),
	},
	"elicitation": {
		replies: []claudetest.Reply{claudetest.Use("mcp__ext__ask", map[string]any{}), claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) {
			w.opts.MCPServers, w.opts.AllowedTools = extServer(w.t), []string{"mcp__ext"}
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "Elicitation", "ElicitationResult", "Notification"}),
	},
	"config": {
		replies: []claudetest.Reply{claudetest.Say("one")},
		setup: func(w *world, _ *hook.Hooks) {
			w.write(".claude/settings.json", `{}`)
			w.opts.SettingSources = []string{"project"}
		},
		drive: func(w *world, c *claude.Client, l *hookLog) {
			ask(w, c, "go")
			l.until("ConfigChange", func() { w.write(".claude/settings.json", fmt.Sprintf(`{"env":{"A":"%d"}}`, time.Now().UnixNano())) })
		},
		want: slices.Concat(turnEvents, []string{"ConfigChange"}),
	},
	"directory": {
		replies: []claudetest.Reply{calls(bash("cd sub && pwd")), claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) {
			w.write("sub/f", "x")
			w.write("watched.txt", "x")
			w.opts.Settings = cdSettings
		},
		drive: func(w *world, c *claude.Client, l *hookLog) {
			ask(w, c, "go")
			l.until("FileChanged", func() {
				w.write("watched.txt", "changed")
				w.write("sub/watched.txt", "changed")
			})
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "CwdChanged", "FileChanged"}),
	},
	"directory without settings": {
		replies: []claudetest.Reply{calls(bash("cd sub && pwd")), claudetest.Say("done"), claudetest.Say("again")},
		setup: func(w *world, _ *hook.Hooks) {
			w.write("sub/f", "x")
			w.write("watched.txt", "x")
		},
		drive: func(w *world, c *claude.Client, _ *hookLog) {
			ask(w, c, "go")
			w.write("watched.txt", "changed")
			ask(w, c, "again")
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse"}),
	},
	"repository": {
		replies: []claudetest.Reply{claudetest.Say("done")},
		drive: func(w *world, c *claude.Client, l *hookLog) {
			w.write("repo/f", "x")
			ok[string](w.t)(c.RegisterRepoRoot(w.t.Context(), "repo", nil))
			l.until("DirectoryAdded", nil)
			ask(w, c, "go")
		},
		want: slices.Concat(turnEvents, []string{"DirectoryAdded"}),
	},
	"tasks": {
		replies: []claudetest.Reply{claudetest.Use("TaskCreate", map[string]any{"subject": "s", "description": "d"}),
			claudetest.Use("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}), claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) { w.opts.AllowedTools = []string{"TaskCreate", "TaskUpdate"} },
		want:  slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "TaskCreated", "TaskCompleted"}),
	},
	"worktree": {
		replies: []claudetest.Reply{claudetest.Use("EnterWorktree", map[string]any{"name": "wt"}), claudetest.Use("ExitWorktree", map[string]any{"action": "remove", "discard_changes": true}), claudetest.Say("done")},
		setup: func(w *world, hooks *hook.Hooks) {
			w.opts.AllowedTools = []string{"EnterWorktree", "ExitWorktree"}
			w.git(w.dir, "init", "-q")
			w.git(w.dir, "commit", "-q", "--allow-empty", "-m", "first")
			tree := filepath.Join(w.t.TempDir(), "tree")
			hooks.WorktreeCreate[0].Hooks = append(hooks.WorktreeCreate[0].Hooks, func(context.Context, *hook.WorktreeCreateInput) (*hook.WorktreeCreateOutput, error) {
				w.git(w.dir, "worktree", "add", "-q", tree)
				return &hook.WorktreeCreateOutput{WorktreePath: tree}, nil
			})
		},
		want: slices.Concat(turnEvents, toolEvents, []string{"PostToolUse", "WorktreeCreate", "WorktreeRemove"}),
	},
	"command": {
		replies: []claudetest.Reply{claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) {
			w.write(".claude/commands/hey.md", "say $ARGUMENTS")
			w.opts.SettingSources = []string{"project"}
		},
		drive: func(w *world, c *claude.Client, _ *hookLog) { ask(w, c, "/hey you") },
		want:  slices.Concat(turnEvents, []string{"UserPromptExpansion"}),
	},
	"failed turn": {
		replies: []claudetest.Reply{claudetest.Fail(400, "invalid_request_error", "bad").Times(10)},
		drive: func(w *world, c *claude.Client, _ *hookLog) {
			got := collect(c.Query(w.t.Context(), "go"))
			if failed, ok := errors.AsType[*claude.ResultError](got.err); !ok || len(got.results()) != 1 || failed.Result != got.results()[0] {
				w.t.Fatalf("%v, %v; want ok and len(got.results()) == 1 and failed.Result == got.results()[0]", got.kinds(), got.err)
			}
		},
		want: []string{"MessageDisplay", "StopFailure", "UserPromptSubmit"},
	},
	"setup": {
		replies: []claudetest.Reply{claudetest.Say("done")},
		setup: func(w *world, _ *hook.Hooks) {
			w.opts.ExtraArgs = map[string]*string{"init": nil, "await-initialize": nil}
		},
		want: turnEvents, // neither Setup nor SessionStart
	},
	"resume": {
		replies: []claudetest.Reply{claudetest.Say("one"), claudetest.Say("two")},
		drive: func(w *world, c *claude.Client, _ *hookLog) {
			ask(w, c, "go")
			w.opts.Resume = c.SessionID()
			w.opts.ExtraArgs = map[string]*string{"maintenance": nil, "await-initialize": nil}
			c.Close()
			ask(w, w.connect(), "go on")
		},
		want: turnEvents, // neither Setup nor SessionStart nor SessionEnd
	},
}
