package server

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/server/session"
)

// method is an entry of the table of methods. It is all that the server knows of a method, for
// every transport.
type method struct {
	name    string
	role    role // the least that a caller needs
	scope   scope
	tenancy tenancy
	audit   auditing
	body    int64 // the most bytes of the parameters; 0 is [Options.MaxBody]

	params, result reflect.Type
	call           func(s *Server, ctx context.Context, c *caller, params []byte) (any, error)
}

// scope is whether the holder of a link to a session may call a method.
type scope string

const (
	linked   scope = "link" // with the session of the link
	unlinked scope = "token"
)

// tenancy is what a method concerns.
type tenancy string

const (
	ofTenant tenancy = "tenant" // what the caller's tenant has
	ofServer tenancy = "server" // the whole server: refused to a token of a tenant
)

// auditing is whether calls of a method have a row in the audit log.
type auditing bool

const (
	audited   auditing = true
	unaudited auditing = false
)

// maxBody is the limit of methods without a limit of their own.
const maxBody = 0

// entry makes an entry of the table. The function gives the types of parameters and result.
func entry[P, R any](name string, r role, sc scope, t tenancy, a auditing, body int64, f func(*Server, context.Context, *caller, P) (R, error)) *method {
	call := func(s *Server, ctx context.Context, c *caller, params []byte) (any, error) {
		var p P
		params = bytes.TrimSpace(params)
		if len(params) > 0 && string(params) != "null" {
			if params[0] != '{' {
				return nil, session.Invalid("the parameters are not a JSON object")
			}
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, session.Invalid("the parameters: %v", err)
			}
		}
		return f(s, ctx, c, p)
	}
	return &method{name, r, sc, t, a, body, reflect.TypeFor[P](), reflect.TypeFor[R](), call}
}

// of makes a method of the server of a call of its sessions.
func of[S session.Part, P, R any](f func(S, context.Context, P) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, _ *caller, p P) (R, error) {
		return f(session.Of[S](s.sessions), ctx, p)
	}
}

// by is of for calls that note who called.
func by[S session.Part, P, R any](f func(S, context.Context, P, string) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, c *caller, p P) (R, error) {
		return f(session.Of[S](s.sessions), ctx, p, c.by())
	}
}

// methods is the one table of all methods, and methodByName the same by name.
var (
	methods      []*method
	methodByName = map[string]*method{}
)

func init() { // it refers to functions that refer to it
	methods = slices.Concat(sessionMethods(), dataMethods(), serverMethods())
	for _, m := range methods {
		methodByName[m.name] = m
	}
}

// Method is a method of the service: what a caller needs, and the types of its parameters and
// result. It is called with JSON-RPC 2.0 on a WebSocket, or with POST /v1/<name>.
type Method struct {
	Name, Role     string
	Params, Result reflect.Type
}

// Methods returns all methods of the service.
func Methods() []Method {
	all := make([]Method, len(methods))
	for i, m := range methods {
		all[i] = Method{m.name, m.role.String(), m.params, m.result}
	}
	return all
}

// sessionMethods are the methods of sessions and their queues, requests and agents.
func sessionMethods() []*method {
	return []*method{
		entry("hello", roleViewer, linked, ofTenant, unaudited, maxBody, hello),
		entry("session.connect", roleOperator, unlinked, ofTenant, audited, maxBody, connect),
		entry("session.disconnect", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Disconnect)),
		entry("session.query", roleOperator, unlinked, ofTenant, unaudited, maxBody, query),
		entry("session.queryWithContent", roleOperator, unlinked, ofTenant, unaudited, maxBody, queryWithContent),
		entry("session.attach", roleViewer, linked, ofTenant, unaudited, maxBody, attach),
		entry("session.detach", roleViewer, linked, ofTenant, unaudited, maxBody, detach),
		entry("session.list", roleViewer, linked, ofTenant, unaudited, maxBody, list),
		entry("session.interrupt", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.Interrupt)),
		entry("session.runInBackground", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.RunInBackground)),
		entry("session.setModel", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetModel)),
		entry("session.setPermissionMode", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetPermissionMode)),
		entry("session.setMaxThinkingTokens", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetMaxThinkingTokens)),
		entry("session.setEffort", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.SetEffort)),
		entry("session.fork", roleOperator, unlinked, ofTenant, audited, maxBody, fork),
		entry("session.rewind", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.Rewind)),
		entry("session.getHistory", roleViewer, linked, ofTenant, unaudited, maxBody, of(session.Details.GetHistory)),
		entry("session.rename", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Rename)),
		entry("session.archive", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Archive)),
		entry("session.unarchive", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Details.Unarchive)),
		entry("session.delete", roleOperator, unlinked, ofTenant, audited, maxBody, deleteSession),
		entry("session.continue", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Details.Continue)),
		entry("session.takeOver", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Terminals.TakeOver)),
		entry("session.handBack", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Terminals.HandBack)),
		entry("session.isolation", roleOperator, unlinked, ofTenant, unaudited, maxBody, reach),
		entry("queue.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.List)),
		entry("queue.edit", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Edit)),
		entry("queue.remove", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Remove)),
		entry("queue.reorder", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Reorder)),
		entry("queue.sendNow", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.SendNow)),
		entry("queue.release", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Queues.Release)),
		entry("permission.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Requests.List)),
		entry("permission.respond", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Requests.PermissionRespond)),
		entry("question.respond", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Requests.QuestionRespond)),
		entry("mcp.status", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.MCPStatus)),
		entry("mcp.reconnect", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.MCPReconnect)),
		entry("mcp.toggle", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.MCPToggle)),
		entry("mcp.tools", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.MCPTools)),
		entry("models.list", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.ModelsList)),
		entry("commands.list", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.CommandsList)),
		entry("agents.list", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.AgentsList)),
		entry("task.stop", roleOperator, unlinked, ofTenant, audited, maxBody, of(session.Agents.TaskStop)),
		entry("task.output", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.TaskOutput)),
		entry("preview.list", roleOperator, unlinked, ofTenant, unaudited, maxBody, previewList),
		entry("preview.open", roleOperator, unlinked, ofTenant, audited, maxBody, previewOpen),
	}
}

// dataMethods are the methods of histories, files, contexts, usage, workspaces and reviews.
func dataMethods() []*method {
	return []*method{
		entry("history.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyList),
		entry("history.load", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyLoad),
		entry("history.metadata", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyMetadata),
		entry("history.rename", roleOperator, unlinked, ofTenant, audited, maxBody, historyRename),
		entry("history.tag", roleOperator, unlinked, ofTenant, audited, maxBody, historyTag),
		entry("history.delete", roleOperator, unlinked, ofTenant, audited, maxBody, historyDelete),
		entry("history.export", roleViewer, unlinked, ofTenant, unaudited, maxBody, historyExport),
		entry("history.search", roleViewer, unlinked, ofTenant, unaudited, maxBody, historySearch),
		entry("workspace.create", roleOperator, unlinked, ofTenant, audited, maxBody, workspaceCreate),
		entry("workspace.diff", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Workspaces.Diff)),
		entry("workspace.revert", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Revert)),
		entry("workspace.commit", roleOperator, unlinked, ofTenant, audited, maxBody, by(session.Workspaces.Commit)),
		entry("workspace.remove", roleOperator, unlinked, ofTenant, audited, maxBody, workspaceRemove),
		entry("workspace.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, workspaceList),
		entry("review.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Reviews.List)),
		entry("review.comment", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Comment)),
		entry("review.update", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Update)),
		entry("review.remove", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Reviews.Remove)),
		entry("review.send", roleOperator, unlinked, ofTenant, unaudited, maxBody, by(session.Reviews.Send)),
		entry("files.search", roleOperator, unlinked, ofTenant, unaudited, maxBody, filesSearch),
		entry("files.read", roleOperator, unlinked, ofTenant, unaudited, maxBody, filesRead),
		entry("context.build", roleViewer, unlinked, ofTenant, unaudited, maxBody, contextBuild),
		entry("context.parse", roleViewer, unlinked, ofTenant, unaudited, maxBody, contextParse),
		entry("image.upload", roleOperator, unlinked, ofTenant, audited, maxBody, imageUpload),
		entry("usage.context", roleOperator, unlinked, ofTenant, unaudited, maxBody, of(session.Agents.UsageContext)),
		entry("usage.session", roleViewer, unlinked, ofTenant, unaudited, maxBody, of(session.Details.UsageSession)),
		entry("usage.summary", roleViewer, unlinked, ofTenant, unaudited, maxBody, usageSummary),
	}
}

// serverMethods are the methods of the server itself.
func serverMethods() []*method {
	return []*method{
		entry("budget.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, budgetList),
		entry("budget.set", roleAdmin, unlinked, ofServer, audited, maxBody, budgetSet),
		entry("budget.remove", roleAdmin, unlinked, ofServer, audited, maxBody, budgetRemove),
		entry("settings.get", roleViewer, unlinked, ofTenant, unaudited, maxBody, settingsGet),
		entry("health", roleViewer, linked, ofTenant, unaudited, maxBody, health),
		entry("server.drain", roleAdmin, unlinked, ofServer, audited, maxBody, serverDrain),
		entry("tokens.create", roleAdmin, unlinked, ofServer, audited, maxBody, tokensCreate),
		entry("tokens.list", roleAdmin, unlinked, ofServer, unaudited, maxBody, tokensList),
		entry("tokens.revoke", roleAdmin, unlinked, ofServer, audited, maxBody, tokensRevoke),
		entry("share.create", roleOperator, unlinked, ofTenant, audited, maxBody, shareCreate),
		entry("share.revoke", roleOperator, unlinked, ofTenant, audited, maxBody, shareRevoke),
		entry("audit.list", roleAdmin, unlinked, ofServer, unaudited, maxBody, auditList),
		entry("webhooks.list", roleAdmin, unlinked, ofServer, unaudited, maxBody, webhooksList),
		entry("webhooks.set", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksSet),
		entry("webhooks.test", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksTest),
		entry("webhooks.remove", roleAdmin, unlinked, ofServer, audited, maxBody, webhooksRemove),
		entry("push.key", roleViewer, unlinked, ofTenant, unaudited, maxBody, pushKey),
		entry("push.subscribe", roleViewer, unlinked, ofTenant, audited, maxBody, pushSubscribe),
		entry("push.unsubscribe", roleViewer, unlinked, ofTenant, audited, maxBody, pushUnsubscribe),
		entry("push.test", roleViewer, unlinked, ofTenant, audited, maxBody, pushTest),
		entry("providers.list", roleViewer, unlinked, ofTenant, unaudited, maxBody, providersList),
	}
}
