package item

// ThreadStarted says that a thread exists: one that was started, forked or resumed.
type ThreadStarted struct {
	Note
	Thread Thread `json:"thread"`
}

// ThreadStatusChanged says what a thread does now.
type ThreadStatusChanged struct {
	Note
	Status Status `json:"status"`
}

// ThreadReadStateChanged says how far a thread has been read.
type ThreadReadStateChanged struct {
	Note
	ReadState JSON `json:"readState"`
}

// ThreadArchived says that a thread was archived.
type ThreadArchived struct{ Note }

// ThreadUnarchived says that a thread came back from the archive.
type ThreadUnarchived struct{ Note }

// ThreadDeleted says that a thread was deleted for good.
type ThreadDeleted struct{ Note }

// ThreadClosed says that the server has unloaded a thread.
type ThreadClosed struct{ Note }

// ThreadReverted says that turns were taken out of a thread. It does not name them: the
// client that asked knows, others read the thread again.
type ThreadReverted struct{ Note }

// ThreadNameUpdated says that a thread has another name, or none.
type ThreadNameUpdated struct {
	Note
	ThreadName string `json:"threadName,omitempty"`
}

// ThreadGoalUpdated says that a thread has a goal, or that its goal changed.
type ThreadGoalUpdated struct {
	Note
	Goal Goal `json:"goal"`
}

// ThreadGoalCleared says that a thread has no goal any more.
type ThreadGoalCleared struct{ Note }

// ThreadQueueChanged says that the server's queue of prompts changed. It has no contents.
type ThreadQueueChanged struct{ Note }

// ThreadSettingsUpdated says what the next turns of a thread run with.
type ThreadSettingsUpdated struct {
	Note
	ThreadSettings Settings `json:"threadSettings"`
}

// ThreadTokenUsageUpdated counts tokens. It comes once for each request to the model.
type ThreadTokenUsageUpdated struct {
	Note
	TokenUsage TokenUsage `json:"tokenUsage"`
}

// ThreadCompacted says that a thread was compacted. Newer servers send the item
// contextCompaction instead.
type ThreadCompacted struct{ Note }

// ThreadAttachmentUpdated says that an attachment of a thread changed.
type ThreadAttachmentUpdated struct {
	Note
	AttachmentID   string `json:"attachmentId"`
	AttachmentType string `json:"attachmentType"`
	IdentityKey    string `json:"identityKey"`
	Operation      string `json:"operation"`
}

// ThreadProjectUpdated says that a thread belongs to another project, or to none.
type ThreadProjectUpdated struct {
	Note
	ProjectID string `json:"projectId"`
}
