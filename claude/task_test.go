package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

func taskLine(subtype, id, rest string) string {
	return fmt.Sprintf(`{"type":"system","subtype":%q,"task_id":%q,%s,%s}`, subtype, id, rest, session)
}

// agentCall returns a call of the tool Agent, inside of the subagent of another call.
func agentCall(id, parent string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Agent","input":{}}]},"parent_tool_use_id":%s,%s}`,
		id, parent, session)
}

// outline returns a table of tasks in one line.
func outline(tasks []claude.Task) string {
	var parts []string
	for _, t := range tasks {
		s := t.ID + ":" + string(t.Status)
		if t.Live() {
			s += "*"
		}
		if len(t.Children) > 0 {
			s += "(" + outline(t.Children) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestTasks(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		want := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := outline(client.Tasks()); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		want("")
		begun := time.Now()
		cli.say(agentCall("toolu_1", "null"), taskLine("task_started", "a", `"tool_use_id":"toolu_1","description":"outer","task_type":"local_agent","subagent_type":"helper","prompt":"do"`))
		want("a:running*")
		within(t, time.Second)
		// Nested: identified by its parent id, or only by its call.
		cli.say(taskLine("task_started", "b", `"tool_use_id":"toolu_2","description":"inner","parent_task_id":"a","task_type":"local_agent"`),
			agentCall("toolu_3", `"toolu_1"`), taskLine("task_started", "c", `"tool_use_id":"toolu_3","description":"inner","task_type":"local_agent"`))
		want("a:running*(b:running* c:running*)")
		cli.say(taskLine("task_progress", "a", `"description":"Running x","last_tool_name":"Bash","summary":"so far","usage":{"total_tokens":16,"tool_uses":1,"duration_ms":145}`),
			taskLine("task_updated", "b", `"patch":{"status":"killed","error":"why","end_time":946684801500}`),
			taskLine("task_notification", "b", `"status":"stopped","output_file":"/tmp/b.output","summary":"inner"`),
			taskLine("task_updated", "c", `"patch":{"status":"hibernating","is_backgrounded":true}`))
		want("a:running*(b:killed c:hibernating*)")
		cli.say(tasks("c", "d"), tasks("d"))
		want("a:running*(b:killed c:hibernating) d:running*")
		all := client.Tasks()
		a, b, d := all[0], all[0].Children[0], all[1]
		if a.Description != "outer" || a.Activity != "Running x" || a.LastToolName != "Bash" || a.Usage.TotalTokens != 16 || a.AgentType != "helper" ||
			a.Prompt != "do" || a.ToolUseID != "toolu_1" || !a.Started.Equal(begun) || a.Summary != "so far" {
			t.Errorf("%+v", a)
		}
		if b.Error != "why" || b.OutputFile != "/tmp/b.output" || b.Ended.UnixMilli() != 946684801500 || b.ParentID != "a" {
			t.Errorf("%+v; want b.Error == \"why\" and b.OutputFile == \"/tmp/b.output\" and b.Ended.UnixMilli() == 946684801500 and b.ParentID == \"a\"", b)
		}
		if d.Type != "local_bash" || d.Description != "run it" || !d.Backgrounded {
			t.Errorf("%+v; want d.Type == \"local_bash\" and d.Description == \"run it\" and d.Backgrounded", d)
		}
		// An agent that has ended can be resumed.
		cli.say(taskLine("task_started", "b", `"tool_use_id":"toolu_9","description":"again"`))
		want("a:running*(b:running* c:hibernating) d:running*")
	})
}

func TestTaskCycleIsKept(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.say(taskLine("task_started", "a", `"description":"","parent_task_id":"b"`), taskLine("task_started", "b", `"description":"","parent_task_id":"a"`),
			taskLine("task_started", "c", `"description":"","parent_task_id":"gone"`), taskLine("task_started", "d", `"description":"","parent_task_id":"a"`))
		synctest.Wait()
		if got := outline(client.Tasks()); got != "a:running* b:running* c:running* d:running*" {
			t.Errorf("got is %v; want got == \"a:running* b:running* c:running* d:running*\"", got)
		}
	})
}

func TestTasksAreBounded(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.say(taskLine("task_started", "lives", `"description":"x"`))
		for i := range 1500 {
			cli.say(taskLine("task_notification", fmt.Sprint(i), `"status":"completed","output_file":"","summary":""`))
		}
		synctest.Wait()
		all := client.Tasks()
		if len(all) != 1000 || all[0].ID != "lives" || all[999].ID != "1499" {
			t.Errorf("%d tasks, %s to %s", len(all), all[0].ID, all[len(all)-1].ID)
		}
	})
}
