package server

// sessionHandlers are the methods of sessions.
func sessionHandlers() map[string]handler {
	return map[string]handler{
		"hello":                        handle(roleViewer, hello).share(),
		"session.connect":              handle(roleOperator, connect),
		"session.disconnect":           handle(roleOperator, disconnect),
		"session.query":                handle(roleOperator, query).quiet(),
		"session.queryWithContent":     handle(roleOperator, queryWithContent).quiet(),
		"session.attach":               handle(roleViewer, attach).share(),
		"session.detach":               handle(roleViewer, detach).share(),
		"session.list":                 handle(roleViewer, list).share(),
		"session.interrupt":            handle(roleOperator, interrupt),
		"session.runInBackground":      handle(roleOperator, runInBackground),
		"session.setModel":             handle(roleOperator, setModel),
		"session.setPermissionMode":    handle(roleOperator, setPermissionMode),
		"session.setMaxThinkingTokens": handle(roleOperator, setMaxThinkingTokens),
		"session.setEffort":            handle(roleOperator, setEffort),
		"session.fork":                 handle(roleOperator, fork),
		"session.rewind":               handle(roleOperator, rewind),
		"session.getHistory":           handle(roleViewer, getHistory).share(),
		"session.rename":               handle(roleOperator, rename),
		"session.archive":              handle(roleOperator, archive),
		"session.unarchive":            handle(roleOperator, unarchive),
		"session.delete":               handle(roleOperator, deleteSession),
		"session.continue":             handle(roleOperator, continueTurn),
		"session.takeOver":             handle(roleOperator, takeOver),
		"session.handBack":             handle(roleOperator, handBack),
		"session.isolation":            handle(roleOperator, isolation).quiet(),
	}
}

// agentHandlers are the methods of queues, requests and agents.
func agentHandlers() map[string]handler {
	return map[string]handler{
		"queue.list":         handle(roleViewer, queueList),
		"queue.edit":         handle(roleOperator, queueEdit).quiet(),
		"queue.remove":       handle(roleOperator, queueRemove).quiet(),
		"queue.reorder":      handle(roleOperator, queueReorder).quiet(),
		"queue.sendNow":      handle(roleOperator, queueSendNow).quiet(),
		"queue.release":      handle(roleOperator, queueRelease).quiet(),
		"permission.list":    handle(roleViewer, permissionList),
		"permission.respond": handle(roleOperator, permissionRespond),
		"question.respond":   handle(roleOperator, questionRespond),
		"mcp.status":         handle(roleOperator, mcpStatus).quiet(),
		"mcp.reconnect":      handle(roleOperator, mcpReconnect),
		"mcp.toggle":         handle(roleOperator, mcpToggle),
		"mcp.tools":          handle(roleOperator, mcpTools).quiet(),
		"models.list":        handle(roleOperator, modelsList).quiet(),
		"commands.list":      handle(roleOperator, commandsList).quiet(),
		"agents.list":        handle(roleOperator, agentsList).quiet(),
		"task.stop":          handle(roleOperator, taskStop),
		"task.output":        handle(roleOperator, taskOutput).quiet(),
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
		"usage.context":    handle(roleOperator, usageContext).quiet(),
		"usage.session":    handle(roleViewer, usageSession),
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
