package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// write puts a file into the working directory.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// ok returns a result and fails the test on an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// whole fails if the answer has a member that its type does not.
func whole[T any](t *testing.T, raw message.JSON) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(new(T)); err != nil {
		t.Errorf("%T: %v", *new(T), err)
	}
}

// member returns one member of an answer that whole cannot check.
func member(t *testing.T, c *claude.Client, subtype, name string) message.JSON {
	t.Helper()
	var answer map[string]message.JSON
	if err := c.Control(t.Context(), subtype, nil, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer) != 1 {
		t.Errorf("%s answers %v", subtype, answer)
	}
	return answer[name]
}

// refused checks that the CLI refused with a reason.
func refused(t *testing.T, err error, why string) {
	t.Helper()
	if e := as[*claude.ControlError](t, err); !strings.Contains(e.Message, why) || errors.Is(err, claude.ErrUnsupported) {
		t.Errorf("refused with %v, not %s", err, why)
	}
}

func TestControlUsage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"))
	w.write("CLAUDE.md", "be nice\n")
	w.opts.SettingSources = []string{"user", "project", "local"}
	c := w.connect()
	collect(c.Query(t.Context(), "hello")).one(t)
	for _, detail := range []claude.ContextDetail{claude.ContextDetailSummary, claude.ContextDetailFull, ""} {
		u := ok[*claude.ContextUsage](t)(c.FetchContextUsage(t.Context(), detail))
		whole[claude.ContextUsage](t, u.Raw())
		if u.MaxTokens == 0 || u.TotalTokens == 0 || len(u.Categories) == 0 || len(u.GridRows) == 0 || u.APIUsage == nil || u.MessageBreakdown == nil {
			t.Errorf("%q: %s; want u.MaxTokens != 0 and u.TotalTokens != 0 and len(u.Categories) != 0 and len(u.GridRows) != 0 and u.APIUsage != nil and u.MessageBreakdown != nil", detail, u.Raw())
		}
	}
	_, err := c.FetchContextUsage(t.Context(), "some")
	refused(t, err, "detail")
	for _, fetch := range []func(context.Context) (*claude.UsageInfo, error){c.FetchUsage, c.FetchUsageBehaviors} {
		u := ok[*claude.UsageInfo](t)(fetch(t.Context()))
		whole[claude.UsageInfo](t, u.Raw())
		if len(u.Session.ModelUsage) != 1 || u.Session.TotalCostUSD <= 0 {
			t.Errorf("usage %s", u.Raw())
		}
	}
	if cost := ok[string](t)(c.FetchSessionCost(t.Context())); !strings.Contains(cost, "Total cost") {
		t.Errorf("cost is %v; want strings.Contains(cost, \"Total cost\")", cost)
	}
	if got := ok[[]claude.ModelInfo](t)(c.ListModels(t.Context())); len(got) != len(c.ServerInfo().Models) {
		t.Errorf("%d models, %d at the start", len(got), len(c.ServerInfo().Models))
	}
	whole[[]claude.ModelInfo](t, member(t, c, "list_models", "models"))
	v := ok[*claude.BinaryVersion](t)(c.FetchBinaryVersion(t.Context()))
	if whole[claude.BinaryVersion](t, v.Raw()); v.Version != c.ServerInfo().ClaudeCodeVersion || v.BuildTime == "" {
		t.Errorf("%+v; want v.Version == c.ServerInfo().ClaudeCodeVersion and v.BuildTime != \"\"", v)
	}
}

func TestControlMCP(t *testing.T) {
	t.Parallel()
	node := nodePath(t)
	w := newWorld(t, claudetest.Say("one"))
	script, err := filepath.Abs(filepath.FromSlash("../../../testdata/wire-servers/stdio-mcp.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	server := claude.MCPServer{Command: node, Args: []string{script}}
	w.opts.MCPServers = map[string]claude.MCPServer{"ext": server}
	c := w.connect()
	collect(c.Query(t.Context(), "hello")).one(t)
	status := func(name string) (found claude.MCPServerStatus) {
		t.Helper()
		for _, s := range ok[[]claude.MCPServerStatus](t)(c.ListMCPServers(t.Context())) {
			if s.Name == name {
				found = s
			}
		}
		return found
	}
	if s := status("ext"); s.Status != "connected" || s.ServerInfo.Version != "1.2.3" || len(s.Tools) != 2 || s.Config.Command != node {
		t.Errorf("%+v; want s.Status == \"connected\" and s.ServerInfo.Version == \"1.2.3\" and len(s.Tools) == 2 and s.Config.Command == node", s)
	}
	whole[[]claude.MCPServerStatus](t, member(t, c, "mcp_status", "mcpServers"))

	quit := claude.MCPServer{Command: "true"} // without arguments
	change := ok[*claude.MCPServersChange](t)(c.SetMCPServers(t.Context(), map[string]claude.MCPServer{"late": server, "quit": quit}))
	if whole[claude.MCPServersChange](t, change.Raw()); !slices.Equal(change.Added, []string{"late", "quit"}) || len(change.Errors) != 1 || strings.Contains(change.Errors["quit"], "Spread") {
		t.Errorf("set: %s", change.Raw())
	}
	call := ok[*claude.MCPCallResult](t)(c.CallMCP(t.Context(), "mcp__late__echo", map[string]string{"text": "x"}, nil))
	if whole[claude.MCPCallResult](t, call.Raw()); !strings.HasPrefix(call.Text(), "stdio echo: x") {
		t.Errorf("call: %s", call.Raw())
	}
	call = ok[*claude.MCPCallResult](t)(c.CallMCP(t.Context(), "mcp__late__echo", nil, &claude.MCPCallOptions{ResultNotForModel: true, Timeout: time.Minute}))
	if whole[claude.MCPCallResult](t, call.Raw()); call.Staging == nil || !call.Staging.OK {
		t.Errorf("staged call: %s", call.Raw())
	}
	_, err = c.CallMCP(t.Context(), "mcp__late__echo", nil, &claude.MCPCallOptions{CheckPermissions: true})
	refused(t, err, "did not run")
	_, err = c.CallMCP(t.Context(), "mcp__nope__echo", nil, nil)
	refused(t, err, "not connected")
	_, err = c.ReadMCPResource(t.Context(), "late", "file:///x")
	refused(t, err, "ui://")
	_, err = c.ReadMCPResource(t.Context(), "late", "ui://x")
	refused(t, err, "Method not found")

	if err := c.DisableMCPServer(t.Context(), "late"); err != nil || status("late").Status != "disabled" {
		t.Errorf("off: %v %+v", err, status("late"))
	}
	if err := c.EnableMCPServer(t.Context(), "late"); err != nil || status("late").Status != "connected" {
		t.Errorf("on: %v %+v", err, status("late"))
	}
	if err := c.ReconnectMCPServer(t.Context(), "late"); err != nil {
		t.Error(err)
	}
	refused(t, c.ReconnectMCPServer(t.Context(), "nope"), "Server not found")
	refused(t, c.EnableMCPServer(t.Context(), "nope"), "Server not found")
	for _, mode := range []message.PermissionMode{message.ModeDefault, message.ModeAuto, ""} {
		if warning, err := c.SetMCPPermissionModeOverride(t.Context(), "late", mode); err != nil || warning != "" {
			t.Errorf("mode %q: %q, %v", mode, warning, err)
		}
	}
	if warning, err := c.SetMCPPermissionModeOverride(t.Context(), "nope", message.ModeAuto); err != nil || warning == "" {
		t.Errorf("%q, %v; want err == nil and warning != \"\"", warning, err)
	}
	_, err = c.SetMCPPermissionModeOverride(t.Context(), "late", message.ModePlan)
	refused(t, err, "plan")
	change = ok[*claude.MCPServersChange](t)(c.SetMCPServers(t.Context(), nil))
	if !slices.Equal(change.Removed, []string{"late", "quit"}) || status("ext").Status != "connected" {
		t.Errorf("remove: %s", change.Raw())
	}
}

func nodePath(t *testing.T) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path := filepath.Join(dir, "node"); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skip("this test needs node for its MCP server")
	return ""
}

func TestControlFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"))
	path := w.write("a.txt", "file a\n")
	sub := filepath.Dir(w.write("sub/x.go", "package x\n"))
	w.write("bin", "\xff\x00")
	c := w.connect()
	collect(c.Query(t.Context(), "hello")).one(t)
	f := ok[*claude.FileContents](t)(c.ReadFile(t.Context(), "a.txt", nil))
	if whole[claude.FileContents](t, f.Raw()); f.Contents != "file a\n" || f.AbsPath != path || f.Lossy == nil || *f.Lossy {
		t.Errorf("%s; want f.Contents == \"file a\\n\" and f.AbsPath == path and f.Lossy != nil and not *f.Lossy", f.Raw())
	}
	f = ok[*claude.FileContents](t)(c.ReadFile(t.Context(), "a.txt", &claude.ReadFileOptions{MaxBytes: 3, Offset: 2}))
	if whole[claude.FileContents](t, f.Raw()); f.Contents != "le " || !f.Truncated || f.TotalBytes != 7 {
		t.Errorf("%s; want f.Contents == \"le \" and f.Truncated and f.TotalBytes == 7", f.Raw())
	}
	f = ok[*claude.FileContents](t)(c.ReadFile(t.Context(), "bin", &claude.ReadFileOptions{Encoding: "base64"}))
	if data, err := f.Bytes(); err != nil || string(data) != "\xff\x00" {
		t.Errorf("%s: %q, %v; want err == nil and string(data) == \"\\xff\\x00\"", f.Raw(), data, err)
	}
	if f = ok[*claude.FileContents](t)(c.ReadFile(t.Context(), "bin", nil)); f.Lossy == nil || !*f.Lossy {
		t.Errorf("%s; want f.Lossy != nil and *f.Lossy", f.Raw())
	}
	_, err := c.ReadFile(t.Context(), "nope.txt", nil)
	refused(t, err, "read denied")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SeedReadState(t.Context(), path, info.ModTime()); err != nil {
		t.Error(err)
	}
	s := ok[*claude.FileSuggestions](t)(c.SuggestFiles(t.Context(), ""))
	whole[claude.FileSuggestions](t, s.Raw())
	if !slices.ContainsFunc(s.Suggestions, func(f claude.FileSuggestion) bool { return f.Path == "a.txt" }) || s.CWD != w.dir {
		t.Errorf("suggestions %s", s.Raw())
	}
	if got, err := c.RegisterRepoRoot(t.Context(), sub, &claude.RepoRootOptions{ReloadSkills: true}); err != nil || got != sub {
		t.Errorf("%q, %v; want err == nil and got == sub", got, err)
	}
	_, err = c.RegisterRepoRoot(t.Context(), t.TempDir(), nil)
	refused(t, err, "not a subdirectory")
	other := t.TempDir()
	moved := ok[*claude.CWDChange](t)(c.SetCWD(t.Context(), other, ""))
	if moved.Status != "needs_trust" || moved.Directory != other {
		t.Fatalf("%s; want moved.Status == \"needs_trust\" and moved.Directory == other", moved.Raw())
	}
	moved = ok[*claude.CWDChange](t)(c.SetCWD(t.Context(), other, moved.Directory))
	if whole[claude.CWDChange](t, moved.Raw()); moved.Status != "ok" || moved.CWD != other || !moved.Changed {
		t.Errorf("%s; want moved.Status == \"ok\" and moved.CWD == other and moved.Changed", moved.Raw())
	}
}

// newWorldIn returns a world in an existing directory.
func newWorldIn(t *testing.T, dir string, replies ...claudetest.Reply) *world {
	w := newWorld(t, replies...)
	w.dir, w.opts.Dir = dir, dir
	return w
}

func TestControlRewind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.dir, "new.txt")
	w = newWorldIn(t, w.dir, claudetest.Use("Write", map[string]any{"file_path": path, "content": "text\n"}), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"Write"}
	w.opts.EnableFileCheckpointing = true
	c := w.connect()
	turn, err := c.Send(t.Context(), claude.Text("write it"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Wait(t.Context()); err != nil || w.read("new.txt") != "text\n" {
		t.Fatal(err)
	}
	dry := ok[*claude.RewindResult](t)(c.PreviewRewind(t.Context(), turn.ID))
	if whole[claude.RewindResult](t, dry.Raw()); !dry.CanRewind || !slices.Equal(dry.FilesChanged, []string{path}) || w.read("new.txt") != "text\n" {
		t.Errorf("dry: %s", dry.Raw())
	}
	real := ok[*claude.RewindResult](t)(c.RewindFiles(t.Context(), turn.ID))
	if whole[claude.RewindResult](t, real.Raw()); !real.CanRewind {
		t.Errorf("real: %s", real.Raw())
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	_, err = c.RewindFiles(t.Context(), "66666666-6666-4666-8666-666666666666")
	refused(t, err, "No file checkpoint")
}

// A shell command is moved to the background, inspected and stopped.
func TestControlTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("Bash", map[string]any{"command": "echo early; " + blocker}), claudetest.Say("it runs"), claudetest.Say("it stopped"))
	w.opts.AllowedTools = []string{"Bash"}
	c := w.connect()
	messages := c.Messages(t.Context())
	if _, err := c.Send(t.Context(), claude.Text("run it")); err != nil {
		t.Fatal(err)
	}
	var task string
	stopped := false
	for m, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *message.TaskStarted:
			task = m.TaskID
			if did := ok[bool](t)(c.MoveToBackground(t.Context(), m.ToolUseID)); !did {
				t.Error("not put into the background")
			}
		case *message.Result:
			if stopped {
				continue
			}
			stopped = true
			out := firstOutput(t, c, task)
			if whole[claude.TaskOutput](t, out.Raw()); out.Output != "early\n" || out.TotalBytes != 6 || out.Truncated {
				t.Errorf("%s; want out.Output == \"early\\n\" and out.TotalBytes == 6 and not out.Truncated", out.Raw())
			}
			if err := c.StopTask(t.Context(), task); err != nil {
				t.Error(err)
			}
		}
		if n, done := m.(*message.TaskNotification); done {
			if n.TaskID != task || n.Status != "stopped" {
				t.Errorf("%s; want n.TaskID == task and n.Status == \"stopped\"", n.Raw())
			}
			break
		}
	}
	if err := c.StopTask(t.Context(), "nope"); err != nil {
		t.Error(err)
	}
	if did := ok[bool](t)(c.MoveToBackground(t.Context(), "toolu_nope")); did {
		t.Error("a call that is not there was put into the background")
	}
	if did := ok[bool](t)(c.MoveToBackground(t.Context(), "")); !did {
		t.Error("nothing to put into the background is false")
	}
	_, err := c.ReadTaskOutput(t.Context(), "nope")
	refused(t, err, "no shell")
}

// firstOutput waits for the first output of a task.
func firstOutput(t *testing.T, c *claude.Client, task string) *claude.TaskOutput {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if out := ok[*claude.TaskOutput](t)(c.ReadTaskOutput(ctx, task)); out.Output != "" {
			return out
		}
	}
}

// Queued prompts are dropped, one by one or all at once.
func TestControlQueue(t *testing.T) {
	t.Parallel()
	held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("never")}, Hold: claudetest.HoldBefore}
	w := newWorld(t, held, claudetest.Say("after"))
	c := w.connect()
	var turns [3]*claude.Turn
	for i := range turns {
		turns[i] = ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("go")))
		if err := w.api.WaitRequests(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if did := ok[bool](t)(c.CancelMessage(t.Context(), turns[1].ID)); !did {
		t.Error("the second prompt was not cancelled")
	}
	if did := ok[bool](t)(c.CancelMessage(t.Context(), "00000000-0000-4000-8000-000000000000")); did {
		t.Error("a prompt that is not there was cancelled")
	}
	r := ok[*claude.InterruptReceipt](t)(c.InterruptAll(t.Context()))
	if whole[claude.InterruptReceipt](t, r.Raw()); len(r.StillQueued) != 0 || !slices.Equal(r.Cancelled, []string{turns[2].ID}) {
		t.Errorf("receipt %s", r.Raw())
	}
	if got := collect(c.Query(t.Context(), "again")); got.one(t).Result != "after" {
		t.Errorf("%v %v; want got.one(t).Result == \"after\"", got.err, got.kinds())
	}
}

func TestControlSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"))
	w.write(".claude/settings.json", `{"permissions":{"deny":["Bash(rm *)"]},"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"true","timeout":5}]}]}}`)
	w.write(".claude/settings.local.json", `{"cleanupPeriodDays":"x"}`)
	w.opts.SettingSources = []string{"user", "project", "local"}
	w.opts.AllowedTools = []string{"Bash(echo:*)"}
	c := w.connect()
	s := ok[*claude.Settings](t)(c.FetchSettings(t.Context()))
	if whole[claude.Settings](t, s.Raw()); s.Applied == nil || s.Applied.Model == "" || len(s.Errors) != 1 || len(s.Sources) == 0 {
		t.Errorf("settings %s", s.Raw())
	}
	h := ok[*claude.HooksListing](t)(c.ListHooks(t.Context()))
	if whole[claude.HooksListing](t, h.Raw()); len(h.Hooks) != 1 || h.Hooks[0].Timeout != 5 || len(h.EventCatalog) < 30 {
		t.Errorf("hooks %s", h.Raw())
	}
	p := ok[*claude.PermissionRules](t)(c.ListPermissionRules(t.Context()))
	if whole[claude.PermissionRules](t, p.Raw()); len(p.Rules) != 2 || p.OriginalCWD != w.dir {
		t.Errorf("rules %s", p.Raw())
	}
	if err := c.ApplyFlagSettings(t.Context(), map[string]any{"permissions": map[string]any{"deny": []string{"Write"}}}); err != nil {
		t.Error(err)
	}
	if p = ok[*claude.PermissionRules](t)(c.ListPermissionRules(t.Context())); len(p.Rules) != 3 {
		t.Errorf("rules %s", p.Raw())
	}
	refused(t, c.ApplyFlagSettings(t.Context(), map[string]any{"permissions": 7}), "permissions")
	refused(t, c.ApplyFlagSettings(t.Context(), nil), "settings")
	if err := c.UpdateSettings(t.Context(), "userSettings", map[string]string{"effortLevel": "low"}); err != nil {
		t.Error(err)
	}
	refused(t, c.UpdateSettings(t.Context(), "userSettings", map[string]string{"model": "opus"}), "not allowed")
}

func TestControlReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"))
	w.opts.SettingSources = []string{"user", "project", "local"}
	c := w.connect()
	w.write(".claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: greets people\n---\nSay hi\n")
	skills := ok[[]message.SlashCommand](t)(c.ReloadSkills(t.Context()))
	if !slices.ContainsFunc(skills, func(s message.SlashCommand) bool { return s.Name == "greet" }) {
		t.Errorf("the new skill is not among %v", skills)
	}
	whole[[]message.SlashCommand](t, member(t, c, "reload_skills", "skills"))
	w.write("plugin/.claude-plugin/plugin.json", `{"name":"extra","version":"1.0.0"}`)
	plugin := claude.Plugin{Path: filepath.Join(w.dir, "plugin")}
	p := ok[*claude.ReloadedPlugins](t)(c.ReloadPlugins(t.Context(), &claude.ReloadPluginsOptions{HoldOnCacheImpact: true, RefuseIfBusy: true, AddPlugins: []claude.Plugin{plugin}}))
	whole[claude.ReloadedPlugins](t, p.Raw())
	if !slices.ContainsFunc(p.Plugins, func(p message.InitPlugin) bool { return p.Name == "extra" && p.Version == "1.0.0" }) || p.Held == nil || *p.Held {
		t.Errorf("plugins %+v", p.Plugins)
	}
	_, err := c.ReloadPlugins(t.Context(), &claude.ReloadPluginsOptions{AddPlugins: []claude.Plugin{{Path: "plugin"}}})
	refused(t, err, "absolute")
	if styles := ok[[]string](t)(c.ReloadOutputStyles(t.Context())); !slices.Contains(styles, "default") {
		t.Errorf("styles is %v; want slices.Contains(styles, \"default\")", styles)
	}
	d := ok[[]claude.SkillInfo](t)(c.ListSkills(t.Context()))
	if len(d) != 1 || d[0].Name != "greet" {
		t.Errorf("%+v; want len(d) == 1 and d[0].Name == \"greet\"", d)
	}
	whole[[]claude.SkillInfo](t, member(t, c, "get_skills_dialog", "skills"))
	m := ok[*claude.MemoryDialog](t)(c.FetchMemoryDialog(t.Context()))
	whole[claude.MemoryDialog](t, m.Raw())
	b := ok[*claude.SandboxDialog](t)(c.FetchSandboxDialog(t.Context()))
	whole[claude.SandboxDialog](t, b.Raw())
	h := ok[*claude.ChromeDialog](t)(c.FetchChromeDialog(t.Context()))
	whole[claude.ChromeDialog](t, h.Raw())
}

func TestControlReloadBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("never")}, Hold: claudetest.HoldBefore})
	c := w.connect()
	ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("go")))
	if err := w.api.WaitRequests(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	_, err := c.ReloadPlugins(t.Context(), &claude.ReloadPluginsOptions{RefuseIfBusy: true})
	if !errors.Is(err, claude.ErrSessionBusy) {
		t.Error(err)
	}
}

func TestControlSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("aside"))
	c := w.connect()
	collect(c.Query(t.Context(), "hello")).one(t)
	if err := c.RenameSession(t.Context(), "A title", c.SessionID()); err != nil {
		t.Error(err)
	}
	refused(t, c.RenameSession(t.Context(), "", ""), "non-empty")
	refused(t, c.RenameSession(t.Context(), "x", "other"), "session_id")
	title := func() (name string) {
		for _, s := range ok[[]claude.StatusSection](t)(c.FetchStatus(t.Context())) {
			for _, r := range s.Rows {
				if r.Label == "Session name" {
					name = r.Value
				}
			}
		}
		return name
	}
	if got := title(); got != "A title" {
		t.Errorf("the title is %q", got)
	}
	if got := ok[string](t)(c.SuggestSessionTitle(t.Context(), "fix the bug")); got == "" || title() != "A title" {
		t.Errorf("%q, now %q", got, title())
	}
	if got := ok[string](t)(c.SuggestSessionTitle(t.Context(), "")); got != "" {
		t.Errorf("a title for nothing: %q", got)
	}
	side := ok[*claude.SideAnswer](t)(c.AskSideQuestion(t.Context(), "what?", []claude.SideExchange{{Question: "asked before", Response: "said before"}}))
	if whole[claude.SideAnswer](t, side.Raw()); side.Response != "aside" || !strings.Contains(w.asked(1), "asked before") {
		t.Errorf("%s; want side.Response == \"aside\" and strings.Contains(w.asked(1), \"asked before\")", side.Raw())
	}
	e := ok[*claude.ConversationExport](t)(c.ExportConversation(t.Context()))
	if whole[claude.ConversationExport](t, e.Raw()); !strings.Contains(e.Text, "hello") || strings.Contains(e.Text, "aside") {
		t.Errorf("%s; want strings.Contains(e.Text, \"hello\") and not strings.Contains(e.Text, \"aside\")", e.Raw())
	}
	plan := ok[*claude.SessionPlan](t)(c.FetchPlan(t.Context()))
	if whole[claude.SessionPlan](t, plan.Raw()); plan.Exists {
		t.Errorf("%s; want not plan.Exists", plan.Raw())
	}
	for _, has := range []*bool{nil, new(true), new(false)} {
		if err := c.SetHasSubscribers(t.Context(), has); err != nil {
			t.Error(err)
		}
	}
	if err := c.PausePromptSuggestions(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.SetThinkingDisplay(t.Context(), "omitted"); err != nil {
		t.Error(err)
	}
	refused(t, c.SetThinkingDisplay(t.Context(), "some"), "thinking_display")
	if err := c.EndSession(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestControlUnsupported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.connect()
	for _, subtype := range []string{"set_color", "no_such_request"} {
		if err := c.Control(t.Context(), subtype, map[string]string{"color": "red"}, nil); !errors.Is(err, claude.ErrUnsupported) {
			t.Errorf("%s: %v; want errors.Is(err, claude.ErrUnsupported)", subtype, err)
		}
	}
	rating := claude.MessageRating{MessageUUID: "00000000-0000-4000-8000-000000000000", Sentiment: "positive", Surface: "assistant_text"}
	if err := c.RateMessage(t.Context(), rating); err != nil {
		t.Error(err)
	}
	rating.Surface = "x"
	refused(t, c.RateMessage(t.Context(), rating), "surface")
}
