package server

import "github.com/seed7221b0f9/parley/server/session"

// sessionHandlers are the methods of sessions.
func sessionHandlers() map[string]handler {
	return map[string]handler{
		"hello":                        handle(roleViewer, hello).share(),
		"session.connect":              handle(roleOperator, connect),
		"session.disconnect":           handle(roleOperator, ofSessions((*session.Sessions).Disconnect)),
		"session.query":                handle(roleOperator, query).quiet(),
		"session.queryWithContent":     handle(roleOperator, queryWithContent).quiet(),
		"session.attach":               handle(roleViewer, attach).share(),
		"session.detach":               handle(roleViewer, detach).share(),
		"session.list":                 handle(roleViewer, list).share(),
		"session.interrupt":            handle(roleOperator, ofSessions((*session.Sessions).Interrupt)),
		"session.runInBackground":      handle(roleOperator, ofSessions((*session.Sessions).RunInBackground)),
		"session.setModel":             handle(roleOperator, ofSessions((*session.Sessions).SetModel)),
		"session.setPermissionMode":    handle(roleOperator, ofSessions((*session.Sessions).SetPermissionMode)),
		"session.setMaxThinkingTokens": handle(roleOperator, ofSessions((*session.Sessions).SetMaxThinkingTokens)),
		"session.setEffort":            handle(roleOperator, ofSessions((*session.Sessions).SetEffort)),
		"session.fork":                 handle(roleOperator, fork),
		"session.rewind":               handle(roleOperator, ofSessions((*session.Sessions).Rewind)),
		"session.getHistory":           handle(roleViewer, ofSessions((*session.Sessions).GetHistory)).share(),
		"session.rename":               handle(roleOperator, ofSessions((*session.Sessions).Rename)),
		"session.archive":              handle(roleOperator, ofSessions((*session.Sessions).Archive)),
		"session.unarchive":            handle(roleOperator, ofSessions((*session.Sessions).Unarchive)),
		"session.delete":               handle(roleOperator, deleteSession),
		"session.continue":             handle(roleOperator, bySessions((*session.Sessions).Continue)),
		"session.takeOver":             handle(roleOperator, ofSessions((*session.Sessions).TakeOver)),
		"session.handBack":             handle(roleOperator, ofSessions((*session.Sessions).HandBack)),
		"session.isolation":            handle(roleOperator, isolation).quiet(),
	}
}

// agentHandlers are the methods of queues, requests and agents.
func agentHandlers() map[string]handler {
	return map[string]handler{
		"queue.list":         handle(roleViewer, ofSessions((*session.Sessions).QueueList)),
		"queue.edit":         handle(roleOperator, ofSessions((*session.Sessions).QueueEdit)).quiet(),
		"queue.remove":       handle(roleOperator, ofSessions((*session.Sessions).QueueRemove)).quiet(),
		"queue.reorder":      handle(roleOperator, ofSessions((*session.Sessions).QueueReorder)).quiet(),
		"queue.sendNow":      handle(roleOperator, ofSessions((*session.Sessions).QueueSendNow)).quiet(),
		"queue.release":      handle(roleOperator, ofSessions((*session.Sessions).QueueRelease)).quiet(),
		"permission.list":    handle(roleViewer, ofSessions((*session.Sessions).PermissionList)),
		"permission.respond": handle(roleOperator, bySessions((*session.Sessions).PermissionRespond)),
		"question.respond":   handle(roleOperator, bySessions((*session.Sessions).QuestionRespond)),
		"mcp.status":         handle(roleOperator, ofSessions((*session.Sessions).MCPStatus)).quiet(),
		"mcp.reconnect":      handle(roleOperator, ofSessions((*session.Sessions).MCPReconnect)),
		"mcp.toggle":         handle(roleOperator, ofSessions((*session.Sessions).MCPToggle)),
		"mcp.tools":          handle(roleOperator, ofSessions((*session.Sessions).MCPTools)).quiet(),
		"models.list":        handle(roleOperator, ofSessions((*session.Sessions).ModelsList)).quiet(),
		"commands.list":      handle(roleOperator, ofSessions((*session.Sessions).CommandsList)).quiet(),
		"agents.list":        handle(roleOperator, ofSessions((*session.Sessions).AgentsList)).quiet(),
		"task.stop":          handle(roleOperator, ofSessions((*session.Sessions).TaskStop)),
		"task.output":        handle(roleOperator, ofSessions((*session.Sessions).TaskOutput)).quiet(),
		"preview.list":       handle(roleOperator, previewList).quiet(),
		"preview.open":       handle(roleOperator, previewOpen),
	}
}

// historyHandlers are the methods of histories, files, contexts and usage.
func historyHandlers() map[string]handler {
	return map[string]handler{
		"history.list":     handle(roleViewer, historyList),
		"history.load":     handle(roleViewer, historyLoad),
		"history.metadata": handle(roleViewer, historyMetadata),
		"history.rename":   handle(roleOperator, historyRename),
		"history.tag":      handle(roleOperator, historyTag),
		"history.delete":   handle(roleOperator, historyDelete),
		"history.export":   handle(roleViewer, historyExport),
		"history.search":   handle(roleViewer, historySearch),
		"files.search":     handle(roleOperator, filesSearch).quiet(),
		"files.read":       handle(roleOperator, filesRead).quiet(),
		"context.build":    handle(roleViewer, contextBuild),
		"context.parse":    handle(roleViewer, contextParse),
		"image.upload":     handle(roleOperator, imageUpload),
		"usage.context":    handle(roleOperator, ofSessions((*session.Sessions).UsageContext)).quiet(),
		"usage.session":    handle(roleViewer, ofSessions((*session.Sessions).UsageSession)),
		"usage.summary":    handle(roleViewer, usageSummary),
	}
}

// serverHandlers are the methods of the server itself.
func serverHandlers() map[string]handler {
	return map[string]handler{
		"budget.list":      handle(roleViewer, budgetList),
		"budget.set":       handle(roleAdmin, budgetSet),
		"budget.remove":    handle(roleAdmin, budgetRemove),
		"settings.get":     handle(roleViewer, settingsGet),
		"health":           handle(roleViewer, health).share(),
		"server.drain":     handle(roleAdmin, serverDrain),
		"tokens.create":    handle(roleAdmin, tokensCreate),
		"tokens.revoke":    handle(roleAdmin, tokensRevoke),
		"tokens.list":      handle(roleAdmin, tokensList).quiet(),
		"share.create":     handle(roleOperator, shareCreate),
		"share.revoke":     handle(roleOperator, shareRevoke),
		"audit.list":       handle(roleAdmin, auditList).quiet(),
		"webhooks.list":    handle(roleAdmin, webhooksList).quiet(),
		"webhooks.set":     handle(roleAdmin, webhooksSet),
		"webhooks.remove":  handle(roleAdmin, webhooksRemove),
		"webhooks.test":    handle(roleAdmin, webhooksTest),
		"providers.list":   handle(roleViewer, providersList),
		"push.key":         handle(roleViewer, pushKey),
		"push.subscribe":   handle(roleViewer, pushSubscribe).audit(),
		"push.unsubscribe": handle(roleViewer, pushUnsubscribe).audit(),
		"push.test":        handle(roleViewer, pushTest).audit(),
	}
}
