package claude

import "strings"

// The names of the tools that the CLI brings itself. The set is open: a newer
// CLI may have more, and which of them a session has is in [InitMessage].
const (
	ToolAgent                    = "Agent"
	ToolArtifact                 = "Artifact"
	ToolAskUserQuestion          = "AskUserQuestion"
	ToolBash                     = "Bash"
	ToolClaudeDesign             = "ClaudeDesign"
	ToolCronCreate               = "CronCreate"
	ToolCronDelete               = "CronDelete"
	ToolCronList                 = "CronList"
	ToolEdit                     = "Edit"
	ToolEndConversation          = "EndConversation"
	ToolEnterPlanMode            = "EnterPlanMode"
	ToolEnterWorktree            = "EnterWorktree"
	ToolExitPlanMode             = "ExitPlanMode"
	ToolExitWorktree             = "ExitWorktree"
	ToolGlob                     = "Glob"
	ToolGrep                     = "Grep"
	ToolLSP                      = "LSP"
	ToolListAgents               = "ListAgents"
	ToolListMCPResources         = "ListMcpResourcesTool"
	ToolMonitor                  = "Monitor"
	ToolNotebookEdit             = "NotebookEdit"
	ToolOfferChromeSetup         = "OfferChromeSetup"
	ToolPowerShell               = "PowerShell"
	ToolProjects                 = "Projects"
	ToolProposeGoal              = "ProposeGoal"
	ToolProposeSkills            = "propose_skills"
	ToolPushNotification         = "PushNotification"
	ToolRead                     = "Read"
	ToolReadMCPResource          = "ReadMcpResourceTool"
	ToolReadMCPResourceDir       = "ReadMcpResourceDirTool"
	ToolReadNotifications        = "ReadNotifications"
	ToolRefreshMCPTools          = "RefreshMcpTools"
	ToolRemoteTrigger            = "RemoteTrigger"
	ToolReportFindings           = "ReportFindings"
	ToolScheduleWakeup           = "ScheduleWakeup"
	ToolSendFeedback             = "SendFeedback"
	ToolSendMessage              = "SendMessage"
	ToolSendUserFile             = "SendUserFile"
	ToolSendUserMessage          = "SendUserMessage"
	ToolShareOnboardingGuide     = "ShareOnboardingGuide"
	ToolShowOnboardingRolePicker = "ShowOnboardingRolePicker"
	ToolSkill                    = "Skill"
	ToolStructuredOutput         = "StructuredOutput"
	ToolSubagentHandback         = "SubagentHandback"
	ToolTaskCreate               = "TaskCreate"
	ToolTaskGet                  = "TaskGet"
	ToolTaskList                 = "TaskList"
	ToolTaskStop                 = "TaskStop"
	ToolTaskUpdate               = "TaskUpdate"
	ToolTodoWrite                = "TodoWrite"
	ToolToolSearch               = "ToolSearch"
	ToolWaitForMCPServers        = "WaitForMcpServers"
	ToolWebFetch                 = "WebFetch"
	ToolWebSearch                = "WebSearch"
	ToolWorkflow                 = "Workflow"
	ToolWrite                    = "Write"
)

// legacyTools maps names that the CLI still takes to the ones of today.
var legacyTools = map[string]string{
	"Task":               ToolAgent, // still the name in the tools of system/init
	"KillShell":          ToolTaskStop,
	"KillBash":           ToolTaskStop,
	"ListPeers":          ToolListAgents,
	"Brief":              ToolSendUserMessage,
	"ListMcpResources":   ToolListMCPResources,
	"ReadMcpResource":    ToolReadMCPResource,
	"ReadMcpResourceDir": ToolReadMCPResourceDir,
}

// CanonicalTool is the name that a tool has today: Agent for Task, TaskStop for
// KillShell. Any other name is returned as it is. The CLI itself mixes them:
// the tools of [InitMessage] say Task where a call says Agent.
func CanonicalTool(name string) string {
	if now, ok := legacyTools[name]; ok {
		return now
	}
	return name
}

// isMCPTool reports whether a tool belongs to an MCP server.
func isMCPTool(name string) bool { return strings.HasPrefix(name, "mcp__") }
