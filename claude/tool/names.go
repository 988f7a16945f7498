package tool

import (
	"maps"
	"slices"
	"strings"
)

// The names of the tools that are built into the CLI. The set is open: a newer CLI may have more.
// [message.Init] lists those that a session has.
const (
	Agent                    = "Agent"
	Artifact                 = "Artifact"
	AskUserQuestion          = "AskUserQuestion"
	Bash                     = "Bash"
	ClaudeDesign             = "ClaudeDesign"
	CronCreate               = "CronCreate"
	CronDelete               = "CronDelete"
	CronList                 = "CronList"
	Edit                     = "Edit"
	EndConversation          = "EndConversation"
	EnterPlanMode            = "EnterPlanMode"
	EnterWorktree            = "EnterWorktree"
	ExitPlanMode             = "ExitPlanMode"
	ExitWorktree             = "ExitWorktree"
	Glob                     = "Glob"
	Grep                     = "Grep"
	LSP                      = "LSP"
	ListAgents               = "ListAgents"
	ListMCPResources         = "ListMcpResourcesTool"
	Monitor                  = "Monitor"
	NotebookEdit             = "NotebookEdit"
	OfferChromeSetup         = "OfferChromeSetup"
	PowerShell               = "PowerShell"
	Projects                 = "Projects"
	ProposeGoal              = "ProposeGoal"
	ProposeSkills            = "propose_skills"
	PushNotification         = "PushNotification"
	Read                     = "Read"
	ReadMCPResource          = "ReadMcpResourceTool"
	ReadMCPResourceDir       = "ReadMcpResourceDirTool"
	ReadNotifications        = "ReadNotifications"
	RefreshMCPTools          = "RefreshMcpTools"
	RemoteTrigger            = "RemoteTrigger"
	ReportFindings           = "ReportFindings"
	ScheduleWakeup           = "ScheduleWakeup"
	SendFeedback             = "SendFeedback"
	SendMessage              = "SendMessage"
	SendUserFile             = "SendUserFile"
	SendUserMessage          = "SendUserMessage"
	ShareOnboardingGuide     = "ShareOnboardingGuide"
	ShowOnboardingRolePicker = "ShowOnboardingRolePicker"
	Skill                    = "Skill"
	StructuredOutput         = "StructuredOutput"
	SubagentHandback         = "SubagentHandback"
	TaskCreate               = "TaskCreate"
	TaskGet                  = "TaskGet"
	TaskList                 = "TaskList"
	TaskStop                 = "TaskStop"
	TaskUpdate               = "TaskUpdate"
	TodoWrite                = "TodoWrite"
	ToolSearch               = "ToolSearch"
	WaitForMCPServers        = "WaitForMcpServers"
	WebFetch                 = "WebFetch"
	WebSearch                = "WebSearch"
	Workflow                 = "Workflow"
	Write                    = "Write"
)

// legacyTools maps older names that the CLI still accepts to the current ones.
var legacyTools = map[string]string{
	"Task":               Agent, // still the name in the tools of system/init
	"KillShell":          TaskStop,
	"KillBash":           TaskStop,
	"ListPeers":          ListAgents,
	"Brief":              SendUserMessage,
	"ListMcpResources":   ListMCPResources,
	"ReadMcpResource":    ReadMCPResource,
	"ReadMcpResourceDir": ReadMCPResourceDir,
}

// Canonical returns the current name of a tool, such as Agent for Task or TaskStop for KillShell.
// Any other name is returned unchanged. The CLI itself mixes old and new names: [message.Init]
// lists Task, but a call has the name Agent.
func Canonical(name string) string {
	if now, ok := legacyTools[name]; ok {
		return now
	}
	return name
}

// NamesOf returns all names of a tool: the current one first, then the former ones, which
// matchers of hooks may still use.
func NamesOf(name string) []string {
	now := Canonical(name)
	names := []string{now}
	for _, old := range slices.Sorted(maps.Keys(legacyTools)) {
		if legacyTools[old] == now {
			names = append(names, old)
		}
	}
	return names
}

// isMCPTool reports whether a tool belongs to an MCP server.
func isMCPTool(name string) bool { return strings.HasPrefix(name, "mcp__") }
