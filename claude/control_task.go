package claude

import "context"

// StopTask stops a background task. A task that is not there, or that has ended,
// is not an error.
func (c *Client) StopTask(ctx context.Context, taskID string) error {
	return c.Control(ctx, "stop_task", map[string]string{"task_id": taskID}, nil)
}

// MoveToBackground puts what runs in the foreground into the background: the call
// with this tool use id, or with "" everything. It reports whether it did, false
// for a call that is not there or has ended. With "" it is always true.
func (c *Client) MoveToBackground(ctx context.Context, toolUseID string) (bool, error) {
	fields := struct {
		ToolUseID string `json:"tool_use_id,omitempty"`
	}{toolUseID}
	did, err := askMember[*bool](ctx, c, "background_tasks", "backgrounded", fields)
	return err == nil && (did == nil || *did), err
}

// TaskOutput is the last part of what a background task has written so far. It is cut to 8 KiB,
// in which case Truncated is set.
type TaskOutput struct {
	Output     string `json:"output"`
	TotalBytes int64  `json:"total_bytes"`
	Truncated  bool   `json:"truncated"` // Output is the last 8 KiB only

	answer
}

// ReadTaskOutput returns what a shell command in the background has written so far,
// also once it has ended. Any other task is a *[ControlError].
func (c *Client) ReadTaskOutput(ctx context.Context, taskID string) (*TaskOutput, error) {
	return ask[TaskOutput](ctx, c, "get_task_output", map[string]string{"task_id": taskID})
}

// CancelMessage takes a prompt out of the queue and reports whether it was there.
// Its turn ends with [ErrCancelled]. One that runs already goes on; see
// [Turn.Cancel].
func (c *Client) CancelMessage(ctx context.Context, messageUUID string) (bool, error) {
	cancelled, err := askMember[bool](ctx, c, "cancel_async_message", "cancelled", map[string]string{"message_uuid": messageUUID})
	if cancelled {
		c.r.cancelled([]string{messageUUID})
	}
	return cancelled, err
}
