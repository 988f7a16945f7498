package claude_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// builtinTools are the built-in tools of the CLI in the order of its list, followed by two that are
// not in that list.
var builtinTools = []string{
	"Agent", "Artifact", "AskUserQuestion", "Bash", "ClaudeDesign", "CronCreate", "CronDelete", "CronList", "Edit",
	"EndConversation", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "ListAgents",
	"ListMcpResourcesTool", "LSP", "Monitor", "NotebookEdit", "OfferChromeSetup", "PowerShell", "Projects",
	"propose_skills", "ProposeGoal", "PushNotification", "Read", "ReadMcpResourceDirTool", "ReadMcpResourceTool",
	"ReadNotifications", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendFeedback", "SendMessage",
	"SendUserFile", "SendUserMessage", "ShareOnboardingGuide", "ShowOnboardingRolePicker", "Skill", "SubagentHandback",
	"TaskCreate", "TaskGet", "TaskList", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch", "WaitForMcpServers",
	"WebFetch", "WebSearch", "Workflow", "Write",
	"RefreshMcpTools", "StructuredOutput",
}

// Tools without a type, because their input or result is not documented.
var (
	untypedInputs = []string{
		"EndConversation", "LSP", "PowerShell", "SendMessage", "SendUserFile", "SendUserMessage", "ShareOnboardingGuide",
		"StructuredOutput", "SubagentHandback", "WaitForMcpServers",
	}
	untypedResults = append([]string{"ListAgents", "Skill", "ToolSearch"}, untypedInputs...)
)

// toolInputExamples has examples of the input of each tool, which together set
// every field.
var toolInputExamples = map[string][]string{
	"Agent": {`{"description":"d","prompt":"p","subagent_type":"helper","model":"opus","effort":"high","run_in_background":false,
		"name":"n","team_name":"t","mode":"plan","isolation":"worktree"}`},
	"Artifact": {`{"action":"publish","file_path":"/a.html","favicon":"f","icon":"chart","limit":3,"page_token":"p","scope":"mine",
		"title":"t","description":"d","label":"l","url":"https://a","prompt":"p","force":true,"pin":false,"out_dir":"/o",
		"file_paths":["/a","/b"],"asset_id":"as","after":"af","capabilities":{"x":1},"contract":"latest"}`},
	"AskUserQuestion": {`{"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"a","preview":"p"},
		{"label":"B","description":"b"}],"multiSelect":true}],"answers":{"Which?":"A"},
		"annotations":{"Which?":{"preview":"p","notes":"n"}},"metadata":{"source":"s"}}`},
	"Bash":          {`{"command":"ls","timeout":0,"description":"d","run_in_background":true,"dangerouslyDisableSandbox":true}`},
	"ClaudeDesign":  {`{"operation":"o","arguments":{"a":[1]}}`},
	"CronCreate":    {`{"cron":"*/5 * * * *","prompt":"p","recurring":false,"durable":true}`},
	"CronDelete":    {`{"id":"c1"}`},
	"CronList":      {`{}`},
	"Edit":          {`{"file_path":"/a","old_string":"a","new_string":"b","replace_all":true}`},
	"EnterPlanMode": {`{}`},
	"EnterWorktree": {`{"name":"n","path":"/w"}`},
	"ExitPlanMode":  {`{"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}],"plan":"p","planFilePath":"/p.md"}`},
	"ExitWorktree":  {`{"action":"remove","discard_changes":true}`},
	"Glob":          {`{"pattern":"**/*.go","path":"/src"}`},
	"Grep": {`{"pattern":"x","path":"/src","glob":"*.go","output_mode":"content","-B":1,"-A":2,"-C":3,"context":4,"-n":false,
		"-i":true,"-o":true,"type":"go","head_limit":0,"offset":5,"multiline":true}`},
	"ListAgents":           {`{"channel":"c","q":"q"}`},
	"ListMcpResourcesTool": {`{"server":"s"}`},
	"Monitor": {
		`{"description":"d","timeout_ms":300000,"command":"tail -f log"}`,
		`{"description":"d","timeout_ms":1,"ws":{"url":"wss://a","protocols":["p"]}}`,
	},
	"NotebookEdit":     {`{"notebook_path":"/n.ipynb","cell_id":"c","new_source":"s","cell_type":"code","edit_mode":"insert"}`},
	"OfferChromeSetup": {`{"reason":"r"}`},
	"Projects":         {`{"method":"project_write","path":"/a","content":"","local_path":"/l","present_to_user":false,"query":"q","n":0}`},
	"propose_skills": {`{"proposals":[{"name":"n","kind":"improvement","target":"t","description":"d","evidence":["e"],
		"edits":[{"old_string":"a","new_string":"b"}],"skillMd":"md"}]}`},
	"ProposeGoal":            {`{"condition":"c","ask_user":false}`},
	"PushNotification":       {`{"message":"m","status":"proactive"}`},
	"Read":                   {`{"file_path":"/a","offset":0,"limit":10,"pages":"1-2","allow_large":true}`},
	"ReadMcpResourceDirTool": {`{"server":"s","uri":"a:b"}`},
	"ReadMcpResourceTool":    {`{"server":"s","uri":"a:b"}`},
	"ReadNotifications":      {`{}`},
	"RefreshMcpTools":        {`{"server":"s"}`},
	"RemoteTrigger":          {`{"action":"update","trigger_id":"t","session_id":"s","cursor":"c","body":{"a":1}}`},
	"ReportFindings": {`{"level":"high","findings":[{"file":"a.go","line":3,"summary":"s","short_summary":"ss",
		"failure_scenario":"f","category":"c","verdict":"CONFIRMED","outcome":"fixed"}]}`},
	"ScheduleWakeup":           {`{"delaySeconds":90.5,"reason":"r","prompt":"p","stop":true,"noop":false}`},
	"SendFeedback":             {`{"type":"bug","title":"t","details":"d","area":"a","failure_mode":"other","task_category":"plan"}`},
	"ShowOnboardingRolePicker": {`{}`},
	"Skill":                    {`{"skill":"s","args":"a"}`},
	"TaskCreate":               {`{"subject":"s","description":"d","activeForm":"a","metadata":{"k":null}}`},
	"TaskGet":                  {`{"taskId":"1"}`},
	"TaskList":                 {`{}`},
	"TaskStop":                 {`{"task_id":"b1","shell_id":"b2"}`},
	"TaskUpdate": {`{"taskId":"1","subject":"s","description":"","activeForm":"a","status":"deleted","addBlocks":["2"],
		"addBlockedBy":["3"],"owner":"","metadata":{"k":{"a":1}}}`},
	"TodoWrite":  {`{"todos":[{"content":"c","status":"pending","activeForm":"a"}]}`},
	"ToolSearch": {`{"query":"select:A","max_results":5}`},
	"WebFetch":   {`{"url":"https://a","prompt":"p","offset":100}`},
	"WebSearch":  {`{"query":"q","allowed_domains":["a"],"blocked_domains":["b"]}`},
	"Workflow":   {`{"script":"s","name":"n","description":"d","title":"t","args":[1],"scriptPath":"/s","resumeFromRunId":"wf_1"}`},
	"Write":      {`{"file_path":"/a","content":"c"}`},
}

const (
	examplePatch = `"structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":3,"newLines":4,"lines":["-a","+b"]}]`
	exampleDiff  = `"gitDiff":{"filename":"a","status":"modified","additions":1,"deletions":2,"changes":3,"patch":"p","repository":"r"}`
)

// toolResultExamples has examples of the result of each tool, which together set
// every field.
var toolResultExamples = map[string][]string{
	"Agent": {
		`{"status":"completed","prompt":"p","agentId":"a","agentType":"helper","content":[{"type":"text","text":"t"}],
		"resolvedModel":"m","modelsUsed":["m"],"canContinueAgent":true,"totalToolUseCount":1,"totalDurationMs":2,"totalTokens":3,
		"usage":{"input_tokens":1,"output_tokens":2},"toolsUsed":["Bash"],"toolStats":{"readCount":1,"searchCount":2,"bashCount":3,
		"editFileCount":4,"linesAdded":5,"linesRemoved":6,"otherToolCount":7,"frameCount":0},"worktreePath":"/w",
		"worktreeBranch":"b","harnessNoteCount":1,"harnessTailCount":0,"harnessSectionHash":"h"}`,
		`{"status":"async_launched","isAsync":true,"agentId":"a","description":"d","prompt":"p","outputFile":"/o","canReadOutputFile":true}`,
		`{"status":"remote_launched","taskId":"t","sessionUrl":"https://s","description":"d","prompt":"p","outputFile":"/o"}`,
	},
	"Artifact": {
		`{"url":"https://a","path":"/a.html","artifact_id":"i","title":"t","version":"v","capabilities":[1],
		"stored":{"contract":"c","preferredContract":"pc","capabilities":{"x":1},"carried":false,"read":"r"},"warnings":["w"],
		"publishesRemaining":0,"publishesResetAt":1,"contract":"c","updated":false,"owned":false,"icon":"i","faviconSent":true,
		"iconDropped":true,"audience":"a","seq":0,"unchanged":true,"liveSubscription":"l","pinned":false}`,
		`{"artifacts":[{"title":"t","url":"u","favicon":"f","updatedAt":"2026-01-01","rel":"mine","external":true,"role":"editor",
		"outsidersMayHaveWritten":true,"pinned":false}],"truncated":true,"total":0,"total_at_least":true,"next_page_token":"n",
		"pins_enabled":false,"scope":"all","external_listed":true}`,
		`{"artifacts":[]}`,
		`{"read":{"url":"u","bytes":1,"code":200,"codeText":"OK","result":"r","durationMs":2,"title":"t"},"owned":true,
		"artifactRead":{"slug":"s","ver":"v","seeded":false}}`,
		`{"watch":{"url":"u","watching":true,"outcome":"o","reason":"r","durable_skip_reason":"d","task_id":"t","since":1,
		"token_expires_at":2,"rail":"r","trigger_id":"t","durable_since":"2026","status":0,"detail":"d","note":"n","events":["e"]}}`,
		`{"unwatch":{"url":"u","was_watching":true}}`,
		`{"watches":[{"url":"u","task_id":"t","since":1,"explicit":false,"connected":true,"connecting":false,"token_expires_at":2,
		"armed_via":"a"},{"url":"u","rail":"durable_wake","trigger_id":"t","since":"2026","events":["e"],"restored":true},
		{"url":"u","rail":"live_stopped","stop_kind":"k"}],"filter_url":"f","arms":[{"url":"u","rail":"r","state":"s",
		"reconnect":false,"failures":0,"max_failures":3,"next_in_s":1.5,"last_failure":"l","reason":"r","detail":"d",
		"server_message":"m","at":9}]}`,
		`{"written":{"url":"u"},"owned":true,"asset_upload":{"id":"i","url":"u","size_bytes":1,"content_type":"c","sha256":"s","file_name":"f"}}`,
		`{"asset_uploads":{"url":"u","results":[{"file_path":"/a","status":"uploaded","id":"i","url":"u","size_bytes":0,
		"content_type":"c","sha256":"s","file_name":"f"},{"file_path":"/b","status":"failed","reason":"r","message":"m","may_be_stored":true}]}}`,
		`{"asset_list":{"url":"u","assets":[{"id":"i","url":"u","content_type":"c","size_bytes":1,"created_at":"2026"}],
		"usage":{"files":1,"bytes":2,"max_files":3,"max_bytes":4},"next":"n","cowritten":true,"outside_writer":true}}`,
		`{"asset_read":{"id":"i","path":"/p","size_bytes":1,"content_type":"c","sha256":"s","cowritten":true,"outside_writer":true,
		"public_read":true,"foreign":true}}`,
		`{"asset_delete":{"id":"i","deleted":true}}`,
		`{"pin":{"action":"pin","url":"u","pinned":true,"title":"t"}}`,
	},
	"AskUserQuestion": {`{"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"a","preview":"p"}],
		"multiSelect":true}],"answers":{"Which?":"A"},"response":"r","annotations":{"Which?":{"preview":"p","notes":"n",
		"unanswered":"skipped"}},"afkTimeoutMs":1}`},
	"Bash": {`{"stdout":"o","stderr":"e","rawOutputPath":"/r","interrupted":true,"isImage":true,"backgroundTaskId":"b",
		"backgroundedByUser":true,"timedOutAfterMs":1,"backgroundCwdHint":"c","backgroundEndsWithFinalResponse":true,
		"backgroundWakesOwner":true,"dangerouslyDisableSandbox":true,"returnCodeInterpretation":"i","noOutputExpected":true,
		"structuredContent":[{"type":"text"}],"persistedOutputPath":"/p","persistedOutputSize":9,"staleReadFileStateHint":"s",
		"ghRateLimitHint":"g","gitOperation":{"commit":{"sha":"s","kind":"amended","branch":"b"},"push":{"branch":"b"},
		"branch":{"ref":"r","action":"merged"},"pr":{"number":1,"url":"u","action":"created"}}}`},
	"ClaudeDesign": {`{"operation":"o","content":[{"type":"new","x":1}],"isError":true}`},
	"CronCreate":   {`{"id":"c","humanSchedule":"h","recurring":true,"durable":true,"nextFireAt":1}`},
	"CronDelete":   {`{"id":"c","endedLoopWakeup":true}`},
	"CronList":     {`{"jobs":[{"id":"c","cron":"* * * * *","humanSchedule":"h","prompt":"p","recurring":false,"durable":false,"nextFireAt":1}]}`},
	"Edit": {
		`{"filePath":"/a","oldString":"a","newString":"b","originalFile":"",` + examplePatch + `,"userModified":true,"replaceAll":true,` + exampleDiff + `,"staged":true}`,
		`{"filePath":"/a","oldString":"a","newString":"b","originalFile":null,"structuredPatch":[],"userModified":false,"replaceAll":false}`,
	},
	"EnterPlanMode": {`{"message":"m"}`},
	"EnterWorktree": {`{"worktreePath":"/w","worktreeBranch":"b","message":"m"}`},
	"ExitPlanMode": {
		`{"plan":"p","isAgent":true,"filePath":"/p","hasTaskTool":true,"planWasEdited":true,"awaitingLeaderApproval":true,"requestId":"r"}`,
		`{"plan":null,"isAgent":false}`,
	},
	"ExitWorktree": {`{"action":"keep","originalCwd":"/o","worktreePath":"/w","worktreeBranch":"b","tmuxSessionName":"t",
		"discardedFiles":0,"discardedCommits":0,"message":"m"}`},
	"Glob": {`{"durationMs":1,"numFiles":2,"filenames":["a","b"],"truncated":true,"totalMatches":0,"countIsComplete":false,"timedOut":true}`},
	"Grep": {`{"mode":"content","numFiles":1,"filenames":["a"],"content":"c","numLines":0,"numMatches":0,"totalFiles":0,
		"totalLines":0,"appliedLimit":0,"appliedOffset":0,"timedOut":true}`},
	"ListMcpResourcesTool": {`[{"uri":"a:b","name":"n","mimeType":"text/plain","description":"d","server":"s"}]`},
	"Monitor":              {`{"taskId":"t","timeoutMs":1,"persistent":true}`},
	"NotebookEdit": {`{"new_source":"n","old_source":"","cell_id":"c","cell_type":"code","language":"python","edit_mode":"replace",
		"error":"e","notebook_path":"/n","original_file":"o","updated_file":"u"}`},
	"OfferChromeSetup": {`{"outcome":"not_now"}`},
	"Projects": {
		`{"method":"project_info","notice":"n","local_file":"/l","name":"n","description":"d","instructions":"i",
		"docs":[{"path":"/d","created_at":null}],"files":[{"path":"/f","file_kind":"k","created_at":"2026"}],
		"sync_sources":[{"type":"t","config":{"a":1}}],"knowledge":{"knowledge_size":1,"max_knowledge_size":2}}`,
		`{"method":"project_read","path":"/p","file_kind":"k","content":"","created_at":"2026"}`,
		`{"method":"project_search","rag":false,"hits":[{"name":"n","doc_uuid":"u","text":"t","image_attached":true,"page":0}],"docs":["d"]}`,
		`{"method":"project_write","path":"/p","doc_uuid":"u","replaced":true,"present_to_user":false,"local_path":"/l"}`,
		`{"method":"project_delete","path":"/p","deleted":true}`,
		`{"method":"project_memory_list","files":[{"path":"/m","size_bytes":1,"updated_at":"2026","truncated":true}],"truncated":true}`,
		`{"method":"project_memory_read","path":"/m","content":"c","size_bytes":1,"updated_at":"2026","truncated":true}`,
	},
	"propose_skills":   {`{"proposalCount":2}`},
	"ProposeGoal":      {`{"condition":"c","askUser":true}`},
	"PushNotification": {`{"message":"m","pushSent":false,"localSent":false,"disabledReason":"config_off","sentAt":"2026"}`},
	"Read": {
		`{"type":"text","file":{"filePath":"/a","content":"c","numLines":1,"startLine":2,"totalLines":3,"truncatedByTokenCap":true},
		"artifactRead":{"slug":"s","ver":"v"}}`,
		`{"type":"image","file":{"base64":"aa","type":"image/png","originalSize":1,"dimensions":{"originalWidth":1,
		"originalHeight":2,"displayWidth":3,"displayHeight":4}}}`,
		`{"type":"notebook","file":{"filePath":"/n","cells":[{"x":1}]}}`,
		`{"type":"pdf","file":{"filePath":"/p","base64":"aa","originalSize":1}}`,
		`{"type":"parts","file":{"filePath":"/p","originalSize":1,"count":2,"outputDir":"/o"},"firstPage":0,
		"pages":[{"base64":"aa","mediaType":"image/png","error":"e"}]}`,
	},
	"ReadMcpResourceDirTool": {`{"resources":[{"uri":"a:b","name":"n","mimeType":"text/plain"}],"error":"e"}`},
	"ReadMcpResourceTool":    {`{"contents":[{"uri":"a:b","mimeType":"text/plain","text":"t","blobSavedTo":"/b"}],"error":"e"}`},
	"ReadNotifications": {`{"notifications":[{"notification_id":"n","origin":"o","queued_at":"2026","content":"c","arrived_at":"2026"}],
		"remaining":1,"read_at":"2026"}`},
	"RefreshMcpTools": {`[{"server":"s","status":"refreshed","toolCount":0,"added":["a"],"removed":["r"],"error":"e"}]`},
	"RemoteTrigger":   {`{"status":200,"json":"{}","summary":"s"}`},
	"ReportFindings": {`{"count":1,"level":"high","findings":[{"file":"a.go","line":3,"summary":"s","short_summary":"ss",
		"failure_scenario":"f","category":"c","verdict":"CONFIRMED","outcome":"fixed"}]}`},
	"ScheduleWakeup":           {`{"scheduledFor":1,"clampedDelaySeconds":60.5,"wasClamped":true,"stopped":true,"cancelledWakeups":0}`},
	"SendFeedback":             {`{"success":true,"message":"m"}`},
	"ShowOnboardingRolePicker": {`{"role":"r","dismissed":true}`},
	"TaskCreate":               {`{"task":{"id":"1","subject":"s","description":"d"}}`},
	"TaskGet": {
		`{"task":{"id":"1","subject":"s","description":"d","status":"pending","blocks":[],"blockedBy":["2"]}}`,
		`{"task":null}`,
	},
	"TaskList":   {`{"tasks":[{"id":"1","subject":"s","status":"pending","owner":"o","blockedBy":[]}]}`},
	"TaskStop":   {`{"message":"m","task_id":"b","task_type":"local_bash","command":"c"}`},
	"TaskUpdate": {`{"success":true,"taskId":"1","updatedFields":["status"],"error":"e","statusChange":{"from":"pending","to":"completed"}}`},
	"TodoWrite":  {`{"oldTodos":[{"content":"c","status":"pending","activeForm":"a"}],"newTodos":[{"content":"c","status":"completed","activeForm":"a"}]}`},
	"WebFetch":   {`{"bytes":1,"code":200,"codeText":"OK","result":"r","durationMs":2,"url":"u","artifactRead":{"slug":"s","seeded":false}}`},
	"WebSearch": {`{"query":"q","results":["between",{"tool_use_id":"t","content":[{"title":"t","url":"u","snippet":"s"}]}],
		"durationSeconds":1.5,"searchCount":0}`},
	"Workflow": {`{"status":"async_launched","taskId":"t","taskType":"local_workflow","workflowName":"n","runId":"r","summary":"s",
		"transcriptDir":"/t","scriptPath":"/s","sessionUrl":"u","warning":"w","error":"e"}`},
	"Write": {
		`{"type":"update","filePath":"/a","content":"c",` + examplePatch + `,"originalFile":"o",` + exampleDiff + `,"userModified":true,"staged":true}`,
		`{"type":"create","filePath":"/a","content":"","structuredPatch":[],"originalFile":null}`,
	},
	"mcp__a__b": {`{"content":[{"type":"text","text":"t"}],"structuredContent":{"x":1},"_meta":{"k":"v"},
		"resourceLinks":[{"uri":"a:b","name":"n"}]}`},
}

// TestToolExamples decodes the examples, compares the fields with a plain
// decoding, encodes the result and reports fields that no example sets.
func TestToolExamples(t *testing.T) {
	set := map[string]bool{}
	checkToolExamples(t, "input", toolInputExamples, untypedInputs, set, tool.DecodeInput)
	checkToolExamples(t, "result", toolResultExamples, untypedResults, set, func(name string, text message.JSON) (any, error) {
		return tool.DecodeResult(name, text, false)
	})
	for field, ok := range set {
		if !ok {
			t.Errorf("no example sets %s", field)
		}
	}
}

func checkToolExamples(t *testing.T, what string, examples map[string][]string, untyped []string,
	set map[string]bool, decode func(string, message.JSON) (any, error)) {
	for name, texts := range examples {
		for i, text := range texts {
			v, err := decode(name, message.JSON(text))
			if err != nil {
				t.Errorf("%s of %s: %v", what, name, err)
				continue
			}
			if typ := reflect.TypeOf(v).String(); strings.HasPrefix(typ, "*tool.Unknown") {
				t.Errorf("%s of %s is a %s", what, name, typ)
			}
			comparer{t: t, line: i}.tool(what+" "+name, v, message.JSON(text).Value())
			checkToolEncoding(t, name, v, text)
			markFields(set, reflect.ValueOf(v))
		}
	}
	for _, name := range builtinTools {
		v, err := decode(name, "{}")
		_, unknownInput := v.(*tool.UnknownInput)
		_, unknownResult := v.(*tool.UnknownResult)
		listed := slices.Contains(untyped, name)
		if err != nil || listed == (examples[name] != nil) || listed && !unknownInput && !unknownResult {
			t.Errorf("%s of %s: %T, %v, %d examples", what, name, v, err, len(examples[name]))
		}
	}
}

func checkToolEncoding(t *testing.T, name string, v any, text string) {
	data, err := json.Marshal(v)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got, want := message.JSON(data).Value(), message.JSON(text).Value(); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: encoded to %s\nwant %s", name, data, text)
	}
}

// markFields records for each field of the tools' structs whether it was set.
func markFields(set map[string]bool, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			markFields(set, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			markFields(set, v.Index(i))
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			markFields(set, e)
		}
	case reflect.Struct:
		switch v.Interface().(type) {
		case message.Content, message.Usage, message.ResourceLink:
			return
		}
		for f, member := range v.Fields() {
			if f.IsExported() {
				key := fmt.Sprintf("%s.%s", v.Type().Name(), f.Name)
				set[key] = set[key] || !member.IsZero()
				markFields(set, member)
			}
		}
	}
}

// The constants are the wire names.
func TestToolNames(t *testing.T) {
	names := []string{
		tool.Agent, tool.Artifact, tool.AskUserQuestion, tool.Bash, tool.ClaudeDesign,
		tool.CronCreate, tool.CronDelete, tool.CronList, tool.Edit, tool.EndConversation,
		tool.EnterPlanMode, tool.EnterWorktree, tool.ExitPlanMode, tool.ExitWorktree,
		tool.Glob, tool.Grep, tool.ListAgents, tool.ListMCPResources, tool.LSP,
		tool.Monitor, tool.NotebookEdit, tool.OfferChromeSetup, tool.PowerShell,
		tool.Projects, tool.ProposeSkills, tool.ProposeGoal, tool.PushNotification,
		tool.Read, tool.ReadMCPResourceDir, tool.ReadMCPResource, tool.ReadNotifications,
		tool.RemoteTrigger, tool.ReportFindings, tool.ScheduleWakeup, tool.SendFeedback,
		tool.SendMessage, tool.SendUserFile, tool.SendUserMessage, tool.ShareOnboardingGuide,
		tool.ShowOnboardingRolePicker, tool.Skill, tool.SubagentHandback, tool.TaskCreate,
		tool.TaskGet, tool.TaskList, tool.TaskStop, tool.TaskUpdate, tool.TodoWrite,
		tool.ToolSearch, tool.WaitForMCPServers, tool.WebFetch, tool.WebSearch,
		tool.Workflow, tool.Write, tool.RefreshMCPTools, tool.StructuredOutput,
	}
	if !slices.Equal(names, builtinTools) {
		t.Errorf("got %q", names)
	}
	for _, name := range names {
		if tool.Canonical(name) != name {
			t.Errorf("%s is taken for a legacy name", name)
		}
	}
}

// An entry of a web search is a string or an object, also for encoding/json.
func TestWebSearchEntryJSON(t *testing.T) {
	const text = `["between",{"tool_use_id":"t","content":[]},{"new":1}]`
	var entries []tool.WebSearchEntry
	if err := json.Unmarshal([]byte(text), &entries); err != nil || len(entries) != 3 {
		t.Fatalf("entries is %v, err is %v; want err == nil and len(entries) == 3", entries, err)
	}
	if !entries[0].IsText() || entries[0].Text != "between" || entries[1].IsText() || string(entries[2].Raw()) != `{"new":1}` {
		t.Errorf("got %+v", entries)
	}
	if got, err := json.Marshal(entries); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	built := []tool.WebSearchEntry{{Text: "a"}, {ToolUseID: "t", Content: []tool.WebSearchHit{{Title: "t", URL: "u"}}}}
	if got, err := json.Marshal(built); err != nil || string(got) != `["a",{"tool_use_id":"t","content":[{"title":"t","url":"u"}]}]` {
		t.Errorf("got %s, %v", got, err)
	}
}
