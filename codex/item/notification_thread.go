package item

// ThreadStarted reports that a thread was started, forked or resumed, with the server's description
// of it.
type ThreadStarted struct {
	Note
	Thread Thread `json:"thread"`
}

// ThreadStatusChanged reports the new status of a thread: idle, active, or not loaded.
type ThreadStatusChanged struct {
	Note
	Status Status `json:"status"`
}

// ThreadReadStateChanged reports which part of a thread has been read. ReadState is the
// server's object, undecoded.
type ThreadReadStateChanged struct {
	Note
	ReadState JSON `json:"readState"`
}

// ThreadArchived reports that a thread was moved to the archive, by this client or another.
type ThreadArchived struct{ Note }

// ThreadUnarchived reports that a thread was moved out of the archive, by this client or another.
type ThreadUnarchived struct{ Note }

// ThreadDeleted reports that a thread was deleted permanently, by this client or another.
type ThreadDeleted struct{ Note }

// ThreadClosed reports that the server has unloaded a thread. It has to be resumed before its next
// turn.
type ThreadClosed struct{ Note }

// ThreadReverted reports that turns were removed from a thread. It does not name them: a client that
// did not request it has to read the thread again.
type ThreadReverted struct{ Note }

// ThreadNameUpdated reports the new name of a thread; empty if it was removed.
type ThreadNameUpdated struct {
	Note
	ThreadName string `json:"threadName,omitempty"`
}

// ThreadGoalUpdated reports that the goal of a thread, or its state, was set or changed.
type ThreadGoalUpdated struct {
	Note
	Goal Goal `json:"goal"`
}

// ThreadGoalCleared reports that a thread no longer has a goal. A [ThreadGoalUpdated] reports a new
// one.
type ThreadGoalCleared struct{ Note }

// ThreadQueueChanged reports that the server's queue of prompts for a thread has changed, without
// its contents.
type ThreadQueueChanged struct{ Note }

// ThreadSettingsUpdated reports the settings of the next turns of a thread, such as the model.
type ThreadSettingsUpdated struct {
	Note
	ThreadSettings Settings `json:"threadSettings"`
}

// ThreadTokenUsageUpdated reports the tokens that a thread has used. The server sends it once per
// request to the model.
type ThreadTokenUsageUpdated struct {
	Note
	TokenUsage TokenUsage `json:"tokenUsage"`
}

// ThreadCompacted reports that a thread was compacted. Newer servers send the item
// contextCompaction instead.
type ThreadCompacted struct{ Note }

// ThreadAttachmentUpdated reports that an attachment of a thread was added or changed, and names
// it.
type ThreadAttachmentUpdated struct {
	Note
	AttachmentID   string `json:"attachmentId"`
	AttachmentType string `json:"attachmentType"`
	IdentityKey    string `json:"identityKey"`
	Operation      string `json:"operation"`
}

// ThreadProjectUpdated reports that a thread was moved to a project or out of it.
type ThreadProjectUpdated struct {
	Note
	ProjectID string `json:"projectId"`
}
