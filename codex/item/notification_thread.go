package item

// ThreadStarted reports that a thread was started, forked or resumed, with what the server
// knows about it.
type ThreadStarted struct {
	Note
	Thread Thread `json:"thread"`
}

// ThreadStatusChanged reports what a thread is doing from now on: idle, active, or not loaded
// any more.
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

// ThreadArchived reports that a thread was moved to the archive, by this client or by another
// one.
type ThreadArchived struct{ Note }

// ThreadUnarchived reports that a thread was taken out of the archive, by this client or by
// another one.
type ThreadUnarchived struct{ Note }

// ThreadDeleted reports that a thread was deleted for good, by this client or by another one.
type ThreadDeleted struct{ Note }

// ThreadClosed reports that the server has unloaded a thread. It has to be resumed before its
// next turn.
type ThreadClosed struct{ Note }

// ThreadReverted reports that turns were removed from a thread. It does not name them: a client that
// did not ask for it has to read the thread again.
type ThreadReverted struct{ Note }

// ThreadNameUpdated reports that a thread has another name from now on, or none if it is empty.
type ThreadNameUpdated struct {
	Note
	ThreadName string `json:"threadName,omitempty"`
}

// ThreadGoalUpdated reports that a thread has got a goal, or that the goal or its state has
// changed.
type ThreadGoalUpdated struct {
	Note
	Goal Goal `json:"goal"`
}

// ThreadGoalCleared reports that a thread has no goal any more. A [ThreadGoalUpdated] reports a
// new one.
type ThreadGoalCleared struct{ Note }

// ThreadQueueChanged reports that the server's queue of prompts for a thread has changed. It
// does not have the contents.
type ThreadQueueChanged struct{ Note }

// ThreadSettingsUpdated reports the settings with which the next turns of a thread run, such as
// the model.
type ThreadSettingsUpdated struct {
	Note
	ThreadSettings Settings `json:"threadSettings"`
}

// ThreadTokenUsageUpdated reports the tokens that a thread has used. It comes once for each
// request to the model.
type ThreadTokenUsageUpdated struct {
	Note
	TokenUsage TokenUsage `json:"tokenUsage"`
}

// ThreadCompacted reports that a thread was compacted. Newer servers send the item
// contextCompaction instead of it.
type ThreadCompacted struct{ Note }

// ThreadAttachmentUpdated reports that an attachment of a thread was added or has changed, and
// names it.
type ThreadAttachmentUpdated struct {
	Note
	AttachmentID   string `json:"attachmentId"`
	AttachmentType string `json:"attachmentType"`
	IdentityKey    string `json:"identityKey"`
	Operation      string `json:"operation"`
}

// ThreadProjectUpdated reports that a thread belongs to another project from now on, or to
// none.
type ThreadProjectUpdated struct {
	Note
	ProjectID string `json:"projectId"`
}
