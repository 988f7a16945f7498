package api

import "reflect"

// Method is a method of the service with the types of its parameters and result. It is called
// with JSON-RPC 2.0 on a WebSocket, or with POST /v1/<name>.
type Method struct {
	Name           string
	Params, Result reflect.Type
}

// Methods lists all methods of the service. The server's handlers, the TypeScript types and the
// OpenAPI document are checked against it or made from it. It must not be changed.
var Methods = []Method{
	method[HelloParams, HelloResult]("hello"),
	method[ConnectParams, ConnectResult]("session.connect"),
	method[SessionRef, StatusResult]("session.disconnect"),
	method[QueryParams, Accepted]("session.query"),
	method[QueryWithContentParams, Accepted]("session.queryWithContent"),
	method[AttachParams, AttachResult]("session.attach"),
	method[SessionRef, Empty]("session.detach"),
	method[ListParams, ListResult]("session.list"),
	method[SessionRef, InterruptResult]("session.interrupt"),
	method[SessionRef, StatusResult]("session.runInBackground"),
	method[SetModelParams, SetModelResult]("session.setModel"),
	method[SetPermissionModeParams, SetPermissionModeResult]("session.setPermissionMode"),
	method[SetMaxThinkingTokensParams, StatusResult]("session.setMaxThinkingTokens"),
	method[SetEffortParams, StatusResult]("session.setEffort"),
	method[ForkParams, ConnectResult]("session.fork"),
	method[RewindParams, RewindResult]("session.rewind"),
	method[SessionRef, GetHistoryResult]("session.getHistory"),
	method[SessionRenameParams, Empty]("session.rename"),
	method[SessionRef, StatusResult]("session.archive"),
	method[SessionRef, StatusResult]("session.unarchive"),
	method[SessionDeleteParams, Empty]("session.delete"),
	method[SessionRef, Accepted]("session.continue"),
	method[SessionRef, ConnectResult]("session.takeOver"),
	method[SessionRef, HandBackResult]("session.handBack"),
	method[SessionRef, IsolationResult]("session.isolation"),
	method[SessionRef, QueueListResult]("queue.list"),
	method[QueueEditParams, QueueListResult]("queue.edit"),
	method[QueueItemParams, QueueListResult]("queue.remove"),
	method[QueueReorderParams, QueueListResult]("queue.reorder"),
	method[QueueItemParams, Accepted]("queue.sendNow"),
	method[SessionRef, QueueListResult]("queue.release"),
	method[PermissionListParams, PermissionListResult]("permission.list"),
	method[PermissionRespondParams, RespondResult]("permission.respond"),
	method[QuestionRespondParams, RespondResult]("question.respond"),
	method[HistoryListParams, HistoryListResult]("history.list"),
	method[HistoryLoadParams, HistoryLoadResult]("history.load"),
	method[HistoryRef, HistoryMetadataResult]("history.metadata"),
	method[HistoryRenameParams, Empty]("history.rename"),
	method[HistoryTagParams, Empty]("history.tag"),
	method[HistoryRef, Empty]("history.delete"),
	method[HistoryExportParams, HistoryExportResult]("history.export"),
	method[HistorySearchParams, HistorySearchResult]("history.search"),
	method[SessionRef, MCPStatusResult]("mcp.status"),
	method[MCPServerParams, StatusResult]("mcp.reconnect"),
	method[MCPToggleParams, StatusResult]("mcp.toggle"),
	method[MCPToolsParams, MCPToolsResult]("mcp.tools"),
	method[SessionRef, NamesResult]("models.list"),
	method[SessionRef, NamesResult]("commands.list"),
	method[SessionRef, NamesResult]("agents.list"),
	method[TaskParams, StatusResult]("task.stop"),
	method[TaskOutputParams, TaskOutputResult]("task.output"),
	method[WorkspaceCreateParams, WorkspaceResult]("workspace.create"),
	method[WorkspaceDiffParams, WorkspaceDiffResult]("workspace.diff"),
	method[WorkspaceRevertParams, WorkspaceDiffResult]("workspace.revert"),
	method[WorkspaceCommitParams, WorkspaceCommitResult]("workspace.commit"),
	method[WorkspaceRemoveParams, Empty]("workspace.remove"),
	method[Empty, WorkspaceListResult]("workspace.list"),
	method[SessionRef, ReviewListResult]("review.list"),
	method[ReviewCommentParams, ReviewCommentResult]("review.comment"),
	method[ReviewUpdateParams, ReviewListResult]("review.update"),
	method[ReviewRemoveParams, ReviewListResult]("review.remove"),
	method[ReviewSendParams, ReviewSendResult]("review.send"),
	method[SessionRef, PreviewListResult]("preview.list"),
	method[PreviewOpenParams, PreviewOpenResult]("preview.open"),
	method[FilesSearchParams, FilesSearchResult]("files.search"),
	method[FilesReadParams, FilesReadResult]("files.read"),
	method[ContextBuildParams, ContextBuildResult]("context.build"),
	method[ContextParseParams, ContextParseResult]("context.parse"),
	method[ImageUploadParams, ImageUploadResult]("image.upload"),
	method[SessionRef, UsageContextResult]("usage.context"),
	method[SessionRef, UsageSessionResult]("usage.session"),
	method[UsageSummaryParams, UsageSummaryResult]("usage.summary"),
	method[BudgetListParams, BudgetListResult]("budget.list"),
	method[BudgetSetParams, BudgetSetResult]("budget.set"),
	method[BudgetRef, Empty]("budget.remove"),
	method[Empty, SettingsResult]("settings.get"),
	method[Empty, HealthResult]("health"),
	method[DrainParams, StatusResult]("server.drain"),
	method[TokensCreateParams, TokensCreateResult]("tokens.create"),
	method[Empty, TokensListResult]("tokens.list"),
	method[TokensRevokeParams, Empty]("tokens.revoke"),
	method[ShareCreateParams, ShareCreateResult]("share.create"),
	method[ShareRevokeParams, Empty]("share.revoke"),
	method[AuditListParams, AuditListResult]("audit.list"),
	method[Empty, WebhooksListResult]("webhooks.list"),
	method[WebhooksSetParams, WebhooksSetResult]("webhooks.set"),
	method[WebhookRef, WebhooksTestResult]("webhooks.test"),
	method[WebhookRef, Empty]("webhooks.remove"),
	method[Empty, PushKeyResult]("push.key"),
	method[PushSubscribeParams, Empty]("push.subscribe"),
	method[PushUnsubscribeParams, Empty]("push.unsubscribe"),
	method[PushUnsubscribeParams, PushTestResult]("push.test"),
	method[Empty, ProvidersListResult]("providers.list"),
}

func method[Params, Result any](name string) Method {
	return Method{Name: name, Params: reflect.TypeFor[Params](), Result: reflect.TypeFor[Result]()}
}

// Union is an interface of this package with the Go types of its variants, by their type on the
// wire. Schemas are made from it.
type Union struct {
	Interface reflect.Type
	Variants  map[string]reflect.Type
}

// Unions returns the unions of this package with their variants, from which schemas and
// TypeScript types are generated.
func Unions() []Union {
	blocks := union(blockTypes)
	for name := range otherBlocks {
		blocks.Variants[name] = reflect.TypeFor[OtherBlock]()
	}
	return []Union{union(messageTypes), union(eventTypes), union(deltaTypes), blocks}
}

func union[T any](table map[string]func() T) Union {
	u := Union{Interface: reflect.TypeFor[T](), Variants: map[string]reflect.Type{}}
	for name, create := range table {
		u.Variants[name] = reflect.TypeOf(create()).Elem()
	}
	return u
}
