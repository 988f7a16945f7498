package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// value returns the JSON value of a text, or the text itself if it is not JSON.
func value(text []byte) any {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return "no JSON: " + string(text)
	}
	return v
}

// resumeDir is the directory that a session of a store is resumed in.
var resumeDir = regexp.MustCompile(`[^"=]*claude-resume-[A-Za-z0-9-]+`)

// compareMessages compares the messages that the caller received.
func (c *comparison) compareMessages() {
	c.t.Helper()
	var got, want []any
	for _, m := range c.got.Messages {
		if _, ok := m.(*message.BadLine); ok && c.allowed("bad lines are data") {
			continue
		}
		got = append(got, c.message(m.Raw()))
	}
	for _, raw := range c.want.Messages {
		want = append(want, c.message(raw))
	}
	if len(got) == 0 && len(want) > 0 && c.allowed("a refusal is the error of Connect") {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.errorf("messages (-official +ours):\n%s", diff)
	}
}

// message returns the value of a message without generated values.
func (c *comparison) message(raw []byte) any {
	v := value(resumeDir.ReplaceAll(raw, []byte("RESUME-DIR")))
	if m, ok := v.(map[string]any); ok && m["subtype"] == "mirror_error" {
		delete(m, "uuid") // made by the SDK
	}
	return v
}

// compareEnd compares the end of the call.
func (c *comparison) compareEnd() {
	c.t.Helper()
	end := c.want.End
	if c.got.Left || end == nil {
		if c.got.Err != nil {
			c.errorf("the caller left, and got %v", c.got.Err)
		}
		return
	}
	if end.Kind == "end" {
		if c.got.Err != nil {
			c.errorf("ended with %v, the official SDK without an error", c.got.Err)
		}
		return
	}
	if c.got.Err == nil {
		c.errorf("ended without an error, the official SDK with %s", end.Error.Message)
		return
	}
	c.compareError(end.Error, c.got.Err)
}

// compareError compares the kind of an error and its details.
func (c *comparison) compareError(want *sdkError, got error) {
	c.t.Helper()
	var same bool
	switch want.ErrorClass {
	case "error_result":
		re, ok := errors.AsType[*message.ResultError](got)
		same = ok && strings.HasSuffix(want.Message, ": "+re.Result.Text())
	case "process_exited_nonzero":
		ee, ok := errors.AsType[*claude.ExitError](got)
		same = ok && want.ExitCode != nil && ee.Code == *want.ExitCode && strings.TrimSpace(ee.Stderr) == strings.TrimSpace(c.proc.Stderr)
	case "process_killed_by_signal":
		ee, ok := errors.AsType[*claude.ExitError](got)
		same = ok && ee.Signal == want.Signal
	case "aborted":
		same = errors.Is(got, errAborted)
	case "executable_not_found":
		same = errors.Is(got, claude.ErrNotFound)
	case "executable_launch_failed":
		_, same = errors.AsType[*claude.SpawnError](got)
	case "control_request_failed":
		ce, ok := errors.AsType[*claude.ControlError](got)
		same = ok && ce.Message == want.Message && ce.Code == want.ErrorCode
	case "": // option conflicts, and calls after the end
		same = !errors.Is(got, context.Canceled)
	}
	if !same {
		c.errorf("error %T %v, want class %q: %s", got, got, want.ErrorClass, want.Message)
	}
}

// flagSet returns arguments as flags with their values, without their order.
func flagSet(args []string) map[string][]any {
	set := map[string][]any{}
	for i := 0; i < len(args); i++ {
		name, text, has := strings.Cut(args[i], "=")
		if !has && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			text = args[i]
		}
		var v any = text
		if strings.HasPrefix(text, "{") {
			v = value([]byte(text))
		}
		set[name] = append(set[name], v)
	}
	return set
}

func (c *comparison) compareArgs() {
	c.t.Helper()
	want, got := flagSet(c.proc.Argv), flagSet(c.player.Command().Args)
	if !cmp.Equal(want, got) && c.allowed("no secret in an argument") {
		c.inlineSecrets(want, got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.errorf("arguments (-official +ours):\n%s", diff)
	}
}

// inlineSecrets moves the values that we pass by file or by initialize into the arguments, like
// the official SDK.
func (c *comparison) inlineSecrets(want, got map[string][]any) {
	files := c.player.Files()
	for _, values := range got {
		for i, v := range values {
			if path, ok := v.(string); ok && files[path] != "" {
				values[i] = value([]byte(files[path]))
			}
		}
	}
	if v := c.initialize()["managedSettings"]; v != nil {
		got["--managed-settings"] = append(got["--managed-settings"], v)
	}
	if want["--managed-settings"] != nil && got["--managed-settings-in-initialize"] != nil {
		delete(got, "--managed-settings-in-initialize")
		delete(got, "--await-initialize")
	}
}

// initialize returns the request that we opened the control protocol with.
func (c *comparison) initialize() map[string]any {
	for _, line := range c.player.Input() {
		m, _ := value([]byte(line)).(map[string]any)
		if request, ok := m["request"].(map[string]any); ok && request["subtype"] == "initialize" {
			return request
		}
	}
	return nil
}

// compareEnv compares the changes of the SDK to its caller's environment.
func (c *comparison) compareEnv() {
	c.t.Helper()
	base, got := environMap(os.Environ()), environMap(c.player.Command().Env)
	added, removed := map[string]string{}, []string{}
	for k, v := range got {
		if old, ok := base[k]; !ok || old != v {
			added[k] = resumeDir.ReplaceAllString(v, "RESUME-DIR")
		}
	}
	for k := range base {
		if _, ok := got[k]; !ok {
			removed = append(removed, k)
		}
	}
	want := maps.Clone(c.proc.Env.Added)
	for k, v := range want {
		want[k] = resumeDir.ReplaceAllString(v, "RESUME-DIR")
	}
	for _, side := range []map[string]string{want, added} {
		for k := range side {
			if c.ownVariable(k, want, added) {
				delete(want, k)
				delete(added, k)
			}
		}
	}
	slices.Sort(removed)
	if diff := cmp.Diff(want, added); diff != "" {
		c.errorf("variables added (-official +ours):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{}, c.proc.Env.Removed...), removed); diff != "" {
		c.errorf("variables removed (-official +ours):\n%s", diff)
	}
}

// ownVariable reports whether a rule allows a difference in a variable.
func (c *comparison) ownVariable(k string, want, got map[string]string) bool {
	if want[k] == got[k] {
		return false
	}
	switch k {
	case "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_ENTRYPOINT", "NoDefaultCurrentDirectoryInExePath":
		return c.allowed("the SDK names itself")
	}
	return false
}

func environMap(environ []string) map[string]string {
	m := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		m[k] = v
	}
	return m
}

// compareInput compares the lines that the SDK wrote, in any order.
func (c *comparison) compareInput() {
	c.t.Helper()
	answers := map[string]map[string]any{} // ours, by the id of the request
	for _, line := range c.player.Input() {
		if m, ok := value([]byte(line)).(map[string]any); ok && responseID(m) != "" {
			answers[responseID(m)] = m
		}
	}
	var want, got []string
	for _, line := range c.withoutLate(slices.Clone(c.proc.Stdin), answers) {
		want = append(want, c.inputLine(line, false))
		if m, ok := value([]byte(line)).(map[string]any); ok && answers[responseID(m)] != nil {
			c.compareAnswer(m, answers[responseID(m)])
		}
	}
	for _, line := range c.withoutWaited(c.player.Input()) {
		if own := answers[responseID(value([]byte(line)))]; own != nil {
			line = encodeLine(c, own) // as a rule may have changed it
		}
		got = append(got, c.inputLine(line, true))
	}
	got = slices.DeleteFunc(got, func(line string) bool {
		return stopsTurn(line) && !slices.Contains(want, line) && c.allowed("an end in a turn interrupts it")
	})
	slices.Sort(want)
	slices.Sort(got)
	if len(got) < len(want) && c.allowed("a refusal is the error of Connect") {
		want = slices.DeleteFunc(want, func(line string) bool { return !slices.Contains(got, line) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.errorf("input (-official +ours):\n%s", diff)
	}
}

// stopsTurn reports whether a line is an interrupt, or cancels an interrupt that the recording
// does not answer.
func stopsTurn(line string) bool {
	return strings.Contains(line, `"subtype":"interrupt"`) || strings.Contains(line, `"type":"control_cancel_request"`)
}

// inputLine returns a line of input without generated ids.
func (c *comparison) inputLine(line string, ours bool) string {
	v := value([]byte(line))
	m, ok := v.(map[string]any)
	if !ok {
		return line
	}
	sent := c.sent(m)
	switch {
	case m["type"] == "control_request" && sent == nil:
		m["request_id"] = "ID"
	case m["type"] == "control_response":
	case ours && c.got.Via == viaConnect && (sent == nil || sent["uuid"] == nil) && m["uuid"] != nil && c.allowed("a Client names its prompts"):
		delete(m, "uuid")
	}
	if !ours && c.got.Via == viaConnect && c.call.Prompt != nil && m["session_id"] == "" && c.allowed("a Client names no session") {
		delete(m, "session_id")
	}
	if request, ok := m["request"].(map[string]any); ok && ours && request["managedSettings"] != nil && c.allowed("no secret in an argument") {
		delete(request, "managedSettings") // compared with the argument
	}
	withoutHookIDs(m)
	c.compareServers(m)
	c.compareTools(m, ours)
	return encodeLine(c, m)
}

// sent returns the message of the send step that a line comes from, or nil.
func (c *comparison) sent(line map[string]any) map[string]any {
	for _, s := range c.call.Steps {
		m, ok := value(s.Message).(map[string]any)
		if !ok {
			continue
		}
		have := maps.Clone(line)
		if m["uuid"] == nil {
			delete(have, "uuid")
		}
		if cmp.Equal(m, have) {
			return m
		}
	}
	return nil
}

// compareCalls compares the outcomes of control steps.
func (c *comparison) compareCalls() {
	c.t.Helper()
	for _, got := range c.got.Calls {
		label := got.Step.Label
		if len(c.calls[label]) == 0 {
			c.errorf("the recording has no outcome of %s", label)
			continue
		}
		want := c.calls[label][0]
		c.calls[label] = c.calls[label][1:]
		switch {
		case want.Error != nil && got.Err != nil:
			c.compareError(want.Error, got.Err)
		case want.Error != nil:
			c.errorf("%s succeeded, the official SDK got %s", label, want.Error.Message)
		case got.Err != nil:
			if string(want.Result) != "null" || !c.allowed("an error is an error") {
				c.errorf("%s: %v", label, got.Err)
			}
		default:
			result := got.Result
			if got.Step.Accessor == "" {
				result = officialResult(got.Step.Request, result)
			}
			if want.Result == nil {
				continue // the official method returns no value
			}
			if diff := cmp.Diff(value(want.Result), value(result)); diff != "" {
				c.errorf("%s (-official +ours):\n%s", label, diff)
			}
		}
	}
}

// compareStore compares the appends to the session store: all entries of each transcript in
// order, and all attempts for a failing store.
func compareStore(t *testing.T, rec *recording, store *memoryStore) {
	t.Helper()
	if rec.Caller.Store == nil {
		return
	}
	want, got := map[string][]any{}, map[string][]any{}
	for _, r := range rec.SDK {
		key := storeKey(r.Key)
		switch r.Kind {
		case "store_append":
			want[key] = append(want[key], r.Entries...)
		case "store_append_fail":
			want[key] = append(want[key], float64(r.N))
		}
	}
	for _, a := range store.Appends() {
		key := strings.Join([]string{a.Key.ProjectKey, a.Key.SessionID, a.Key.Subpath}, "/")
		if a.Failed {
			got[key] = append(got[key], float64(len(a.Entries)))
			continue
		}
		for _, e := range a.Entries {
			got[key] = append(got[key], value(e))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("store (-official +ours):\n%s", diff)
	}
}

func storeKey(raw json.RawMessage) string {
	var k struct{ ProjectKey, SessionID, Subpath string }
	_ = json.Unmarshal(raw, &k) // other records have none
	return strings.Join([]string{k.ProjectKey, k.SessionID, k.Subpath}, "/")
}

// compareAfter checks the outcomes that belong to no step: those of functions called after the
// calls.
func compareAfter(t *testing.T, rec *recording, left map[string][]sdkRecord, rules *ruleBook) {
	t.Helper()
	want := map[string]int{}
	for _, a := range rec.Caller.After {
		want[a.Fn]++
	}
	for label, records := range left {
		if len(records) != want[label] {
			t.Errorf("%d outcomes of %s belong to nothing", len(records)-want[label], label)
		}
	}
	if len(want) > 0 && !rules.allowed("session functions are another package's", &comparison{t: t, rec: rec}) {
		t.Error("functions were called behind the calls")
	}
}
