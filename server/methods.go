package server

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// method is an entry of the table of methods, with all data of a method for every transport.
type method struct {
	name    string
	doc     string // description for docs/reference/methods.md
	role    role   // the required role
	scope   scope
	tenancy tenancy
	audit   auditing
	body    int64 // limit of the parameters in bytes; 0 is [Options.MaxBody]

	params, result reflect.Type
	call           func(s *Server, ctx context.Context, c *caller, params []byte) (any, error)
}

// scope determines whether the holder of a link to a session may call a method.
type scope string

const (
	linked   scope = "link" // with the session of the link
	unlinked scope = "token"
)

// tenancy is the kind of data of a method.
type tenancy string

const (
	ofTenant tenancy = "tenant" // the data of the caller's tenant
	ofServer tenancy = "server" // the whole server: rejected for a token of a tenant
)

// auditing determines whether calls of a method have a row in the audit log.
type auditing bool

const (
	audited   auditing = true
	unaudited auditing = false
)

// maxBody is the limit of methods without a specific one.
const maxBody = 0

// entry returns an entry of the table. The function determines the types of parameters and result.
func entry[P, R any](name, doc string, r role, sc scope, t tenancy, a auditing, body int64, f func(*Server, context.Context, *caller, P) (R, error)) *method {
	call := func(s *Server, ctx context.Context, c *caller, params []byte) (any, error) {
		var p P
		params = bytes.TrimSpace(params)
		if len(params) > 0 && string(params) != "null" {
			if params[0] != '{' {
				return nil, session.Invalid("the parameters are not a JSON object")
			}
			if err := decodeParams(params, &p); err != nil {
				return nil, session.Invalid("the parameters: %v", err)
			}
			if err := checkShort(reflect.ValueOf(p)); err != nil {
				return nil, err
			}
			ownKey(reflect.ValueOf(&p).Elem(), c, name)
		}
		return f(s, ctx, c, p)
	}
	return &method{name, doc, r, sc, t, a, body, wireType(reflect.TypeFor[P]()), reflect.TypeFor[R](), call}
}

// ownKey scopes the idempotency key of a call on a session to its caller and its method, because
// the session stores the keys of all callers. It does not change the key of a call that creates an
// object, because the id of the object is derived from the caller and the key.
func ownKey(params reflect.Value, c *caller, method string) {
	if method == "session.connect" || params.Kind() != reflect.Struct || !params.FieldByName("SessionID").IsValid() {
		return
	}
	if key := params.FieldByName("Key"); key.IsValid() && key.String() != "" {
		key.SetString(session.ScopedKey(c.account, method, key.String()))
	}
}

// decodeParams decodes parameters. If p has a decode method, p takes ownership of the memory of
// params.
func decodeParams(params []byte, p any) error {
	if l, ok := p.(interface{ decode([]byte) error }); ok {
		return l.decode(params)
	}
	return json.Unmarshal(params, p)
}

// wireType returns the type that describes parameters to clients.
func wireType(params reflect.Type) reflect.Type {
	switch params {
	case reflect.TypeFor[prompt]():
		return reflect.TypeFor[api.QueryParams]()
	case reflect.TypeFor[blocks]():
		return reflect.TypeFor[api.QueryWithContentParams]()
	}
	return params
}

// of converts a call of the server's sessions to a method.
func of[S session.Part, P, R any](f func(S, context.Context, P) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, _ *caller, p P) (R, error) {
		return f(session.Of[S](s.sessions), ctx, p)
	}
}

// by is like of for calls that record the caller.
func by[S session.Part, P, R any](f func(S, context.Context, P, string) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, c *caller, p P) (R, error) {
		return f(session.Of[S](s.sessions), ctx, p, c.by())
	}
}

// methods is the table of all methods, and methodByName the same by name.
var (
	methods      []*method
	methodByName = map[string]*method{}
)

func init() { // in init, because some methods refer to the table
	methods = slices.Concat(sessionMethods(), dataMethods(), serverMethods())
	for _, m := range methods {
		methodByName[m.name] = m
	}
}

// Method is a method of the service: its description, the required access, and the types of its parameters
// and result. It is called with JSON-RPC 2.0 on a WebSocket, or with POST /v1/<name>.
type Method struct {
	Name, Doc, Role string
	Params, Result  reflect.Type
}

// Methods returns all methods of the service.
func Methods() []Method {
	all := make([]Method, len(methods))
	for i, m := range methods {
		all[i] = Method{m.name, m.doc, m.role.String(), m.params, m.result}
	}
	return all
}

// sessionMethods returns the methods of sessions and their queues, requests and agents.
func sessionMethods() []*method {
	return []*method{
		entry("hello", "returns the caller, and the version and capabilities of the server", roleViewer, linked, ofTenant, unaudited, maxBody, hello),
		entry("session.connect", "starts a session with an agent, or resumes one", roleOperator, unlinked, ofTenant, audited, maxBody, connect),
		entry("session.disconnect", "ends the agent of a session; the session stays and can be resumed", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Disconnect)),
		entry("session.query", "sends a prompt as text; it queues while a turn runs", roleOperator, unlinked, ofTenant, unaudited, maxBody, query),
		entry("session.queryWithContent", "sends a prompt as blocks: text, images, files", roleOperator, unlinked, ofTenant, unaudited, maxBody, queryWithContent),
		entry("session.attach", "begins to follow a session, from a cursor or with a snapshot", roleViewer, linked, ofTenant, unaudited, maxBody, attach),
		entry("session.detach", "stops following a session", roleViewer, linked, ofTenant, unaudited, maxBody, detach),
		entry("session.list", "lists sessions with their state", roleViewer, linked, ofTenant, unaudited, maxBody, list),
		entry("session.interrupt", "stops the running turn and returns what it dropped", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.Interrupt)),
		entry("session.runInBackground", "moves the running command to the background", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.RunInBackground)),
		entry("session.setModel", "changes the model of a running session", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetModel)),
		entry("session.setPermissionMode", "changes the permission mode", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetPermissionMode)),
		entry("session.setMaxThinkingTokens", "changes how much the model may think", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetMaxThinkingTokens)),
		entry("session.setEffort", "changes how hard the model tries", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetEffort)),
		entry("session.fork", "makes a new session that begins as another one did", roleOperator, unlinked, ofTenant, audited, maxBody, fork),
		entry("session.rewind", "restores files to their state at a prompt; `dry_run` only lists them", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.Rewind)),
		entry("session.getHistory", "returns the conversation so far", roleViewer, linked, ofTenant, unaudited, maxBody, of(session.Details.GetHistory)),
		entry("session.search", "searches the messages in sessions of the server, also in running turns", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Details.Search)),
		entry("session.rename", "gives a session a title", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Rename)),
		entry("session.archive", "moves a session out of the list", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Archive)),
		entry("session.unarchive", "moves it back", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Unarchive)),
		entry("session.delete", "removes a session with its log and uploads", roleOperator, unlinked, ofTenant, audited, maxBody, deleteSession),
		entry("session.continue", "continues a turn that a crash or a drain interrupted", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Details.Continue)),
		entry("session.takeOver", "takes over a session that is open in a terminal", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Terminals.TakeOver)),
		entry("session.handBack", "ends the agent and returns the command that continues the session in a terminal", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Terminals.HandBack)),
		entry("session.isolation", "reports what a session can reach on the machine", roleOperator, unlinked, ofTenant, unaudited, maxBody, reach),
		entry("queue.list", "lists the prompts that wait", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.List)),
		entry("queue.edit", "changes a prompt that waits", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Edit)),
		entry("queue.remove", "removes a prompt that waits", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Remove)),
		entry("queue.reorder", "sets the order of all prompts that wait", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Reorder)),
		entry("queue.sendNow", "sends a waiting prompt now, ahead of the others", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.SendNow)),
		entry("queue.release", "continues a queue that a restart has held", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Release)),
		entry("permission.list", "lists the requests that wait for a person, of one session or of all", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Requests.List)),
		entry("permission.respond", "answers a permission request; the first answer counts", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Requests.PermissionRespond)),
		entry("question.respond", "answers a question of the agent; the first answer counts", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Requests.QuestionRespond)),
		entry("mcp.status", "lists the MCP servers of a session with their state", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.MCPStatus)),
		entry("mcp.reconnect", "connects a server again", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.MCPReconnect)),
		entry("mcp.toggle", "turns a server on or off", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.MCPToggle)),
		entry("mcp.tools", "lists the tools of a server", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.MCPTools)),
		entry("models.list", "lists the models of a session's agent", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.ModelsList)),
		entry("commands.list", "lists its slash commands", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.CommandsList)),
		entry("agents.list", "lists its subagents", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.AgentsList)),
		entry("task.stop", "stops a task in the background", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.TaskStop)),
		entry("task.output", "returns what a task has written so far", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.TaskOutput)),
		entry("preview.list", "lists the ports that a session's agent listens on; see [previews](../guide/preview.md)", roleOperator, unlinked, ofTenant, unaudited, maxBody, previewList),
		entry("preview.open", "returns the address at which a browser sees one of them", roleOperator, unlinked, ofTenant, audited, maxBody, previewOpen),
	}
}

// dataMethods returns the methods of histories, files, contexts, usage, workspaces and reviews.
func dataMethods() []*method {
	return []*method{
		entry("history.list", "lists the sessions that agents keep on disk", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyList),
		entry("history.load", "returns a page of such a session", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyLoad),
		entry("history.metadata", "returns its title, tags, directory and totals", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyMetadata),
		entry("history.rename", "gives it a title", roleOperator, unlinked, ofTenant, audited, maxBody, historyRename),
		entry("history.tag", "gives it a tag or takes the tag off", roleOperator, unlinked, ofTenant, audited, maxBody, historyTag),
		entry("history.delete", "moves it to the trash", roleOperator, unlinked, ofTenant, audited, maxBody, historyDelete),
		entry("history.export", "returns it as Markdown, HTML or JSON", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyExport),
		entry("history.search", "searches the text of all of them", roleViewer, unlinked, ofTenant, unaudited, maxBody, historySearch),
		entry("workspace.create", "makes a git worktree for a session", roleOperator, unlinked, ofTenant, audited, maxBody, workspaceCreate),
		entry("workspace.diff", "returns what a session has changed, in all or in one turn", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Workspaces.Diff)),
		entry("workspace.revert", "takes a file or one of its hunks back", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Revert)),
		entry("workspace.restore", "brings back what workspace.revert has taken, until the next commit", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Restore)),
		entry("workspace.commit", "commits what a session has changed: all of it, some files or some hunks", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Commit)),
		entry("workspace.branch", "compares a session's branch with the one at which it started, and names the remote", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Workspaces.Branch)),
		entry("workspace.merge", "merges a session's branch into the one at which it started", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Merge)),
		entry("workspace.push", "pushes a session's branch with the git configuration of the server's user, not that of the repository", roleOperator, unlinked, ofServer, audited, maxBody, by(session.Workspaces.Push)),
		entry("workspace.remove", "removes a worktree; one with changes is refused unless they are discarded", roleOperator, unlinked, ofTenant, audited, maxBody, workspaceRemove),
		entry("workspace.list", "lists the worktrees", roleViewer, unlinked, ofTenant, unaudited, maxBody, workspaceList),
		entry("review.list", "lists the remarks on a session's changes", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Reviews.List)),
		entry("review.comment", "adds a remark on lines of a diff", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Comment)),
		entry("review.update", "changes a remark", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Update)),
		entry("review.remove", "removes a remark", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Reviews.Remove)),
		entry("review.send", "sends remarks to the agent as one prompt", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Send)),
		entry("projects.list", "lists folders that a session can start in: recent ones, and those below the roots", roleOperator, unlinked, ofTenant, unaudited, maxBody, projectsList),
		entry("files.search", "finds files of a session's directory, or of a folder before there is one, by name", roleOperator, unlinked, ofTenant, unaudited, maxBody, filesSearch),
		entry("files.read", "reads lines of such a file", roleOperator, unlinked, ofTenant, unaudited, maxBody, filesRead),
		entry("context.build", "puts references to files and selections into a prompt", roleViewer, unlinked, ofTenant, unaudited, maxBody, contextBuild),
		entry("context.parse", "takes them out of a prompt again", roleViewer, unlinked, ofTenant, unaudited, maxBody, contextParse),
		entry("image.upload", "brings an image to the server, for a prompt", roleOperator, unlinked, ofTenant, audited, maxBody, imageUpload),
		entry("usage.context", "reports what fills the context window of a session", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.UsageContext)),
		entry("usage.session", "returns tokens and cost of a session", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Details.UsageSession)),
		entry("usage.summary", "returns tokens and cost by day, model, project or block of five hours", roleViewer, unlinked, ofTenant, unaudited, maxBody, usageSummary),
	}
}

// serverMethods returns the methods of the server.
func serverMethods() []*method {
	return []*method{
		entry("budget.list", "lists the budgets with the remaining amounts", roleViewer, unlinked, ofTenant, unaudited, maxBody, budgetList),
		entry("budget.set", "sets a budget", roleAdmin, unlinked, ofServer, audited, maxBody, budgetSet),
		entry("budget.remove", "removes a budget", roleAdmin, unlinked, ofServer, audited, maxBody, budgetRemove),
		entry("settings.get", "returns the settings that clients may know", roleViewer, unlinked, ofTenant, unaudited, maxBody, settingsGet),
		entry("rules.list", "lists the permission rules of a project and the user, with the files that have them", roleOperator, unlinked, ofServer, unaudited, maxBody, rulesList),
		entry("rules.add", "adds a permission rule to a file of settings", roleAdmin, unlinked, ofServer, audited, maxBody, rulesAdd),
		entry("rules.remove", "removes one", roleAdmin, unlinked, ofServer, audited, maxBody, rulesRemove),
		entry("mcp.configured", "lists the MCP servers in the settings of a project and the user, without secrets", roleOperator, unlinked, ofServer, unaudited, maxBody, mcpConfigured),
		entry("mcp.configure", "adds an MCP server to a project, or changes it", roleAdmin, unlinked, ofServer, audited, maxBody, mcpConfigure),
		entry("mcp.unconfigure", "removes one", roleAdmin, unlinked, ofServer, audited, maxBody, mcpUnconfigure),
		entry("health", "reports the state of the server", roleViewer, linked, ofTenant, unaudited, maxBody, health),
		entry("machines.list", "lists the machines that have joined, with their agents and directories", roleViewer, unlinked, ofServer, unaudited, maxBody, machinesList),
		entry("nodes.list", "lists the servers of the cluster, with the number of sessions and hosts that each owns", roleViewer, unlinked, ofServer, unaudited, maxBody, nodesList),
		entry("nodes.drain", "makes a server of the cluster give its sessions and hosts to the others; it continues to answer calls", roleAdmin, unlinked, ofServer, audited, maxBody, nodesDrain),
		entry("nodes.forget", "removes the hosts of a machine that is gone, so that its sessions continue on other machines; an agent that still runs there is ended when its server is back", roleAdmin, unlinked, ofServer, audited, maxBody, nodesForget),
		entry("server.storage", "measures what logs, uploads, worktrees, spools and archives take", roleAdmin, unlinked, ofServer, unaudited, maxBody, serverStorage),
		entry("server.drain", "makes the server take no more work, and end", roleAdmin, unlinked, ofServer, audited, maxBody, serverDrain),
		entry("tokens.create", "makes a token and shows it once", roleAdmin, unlinked, ofServer, audited, maxBody, tokensCreate),
		entry("tokens.list", "lists tokens without their secrets", roleAdmin, unlinked, ofServer, unaudited, maxBody, tokensList),
		entry("tokens.revoke", "ends a token", roleAdmin, unlinked, ofServer, audited, maxBody, tokensRevoke),
		entry("pairing.create", "makes a code with which one device gets a token of the given role, within two minutes; see [pairing](../push.md#pairing-a-phone)", roleAdmin, unlinked, ofServer, audited, maxBody, pairingCreate),
		entry("pairing.cancel", "ends such a code", roleAdmin, unlinked, ofServer, audited, maxBody, pairingCancel),
		entry("share.create", "makes a link that shows one session", roleOperator, unlinked, ofTenant, audited, maxBody, shareCreate),
		entry("share.revoke", "ends such a link", roleOperator, unlinked, ofTenant, audited, maxBody, shareRevoke),
		entry("audit.list", "lists who did what", roleAdmin, unlinked, ofServer, unaudited, maxBody, auditList),
		entry("webhooks.list", "lists the addresses that events are sent to", roleAdmin, unlinked, ofServer, unaudited, maxBody, webhooksList),
		entry("webhooks.set", "adds or changes one", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksSet),
		entry("webhooks.test", "sends a test event to one", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksTest),
		entry("webhooks.remove", "removes one", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksRemove),
		entry("push.key", "returns the server's public key for [push messages](../push.md)", roleViewer, unlinked, ofTenant, unaudited, maxBody, pushKey),
		entry("push.subscribe", "subscribes a browser to push messages", roleViewer, unlinked, ofTenant, audited, maxBody, pushSubscribe),
		entry("push.unsubscribe", "ends the subscription", roleViewer, unlinked, ofTenant, audited, maxBody, pushUnsubscribe),
		entry("push.test", "sends a test message to a subscribed browser", roleViewer, unlinked, ofTenant, audited, maxBody, pushTest),
		entry("push.get", "returns the subscription of the caller's browser", roleViewer, unlinked, ofTenant, unaudited, maxBody, pushGet),
		entry("push.answer", "answers the request of a notice, once", roleOperator, unlinked, ofTenant, audited, maxBody, pushAnswer),
		entry("providers.list", "lists the agents that sessions can have", roleViewer, unlinked, ofTenant, unaudited, maxBody, providersList),
	}
}
