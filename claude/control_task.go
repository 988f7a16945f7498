package claude

import "context"

// StopTask stops a background task. An unknown task, or one that has ended, is not an error.
func (c *Client) StopTask(ctx context.Context, taskID string) error {
	return c.Control(ctx, "stop_task", map[string]string{"task_id": taskID}, nil)
}

// MoveToBackground moves the foreground call with this tool use id, or all foreground calls
// with "", to the background. It returns false for a call that is unknown or has ended. With ""
// it always returns true.
func (c *Client) MoveToBackground(ctx context.Context, toolUseID string) (bool, error) {
	fields := struct {
		ToolUseID string `json:"tool_use_id,omitempty"`
	}{toolUseID}
	did, err := askMember[*bool](ctx, c, "background_tasks", "backgrounded", fields)
	return err == nil && (did == nil || *did), err
}

// TaskOutput is the output of a background task so far, limited to its last 8 KiB. Truncated is
// set if it was cut.
type TaskOutput struct {
	Output     string `json:"output"`
	TotalBytes int64  `json:"total_bytes"`
	Truncated  bool   `json:"truncated"` // Output is the last 8 KiB only

	answer
}

// ReadTaskOutput returns the output so far of a shell command in the background, running or
// ended. The error for any other task is a *[ControlError].
func (c *Client) ReadTaskOutput(ctx context.Context, taskID string) (*TaskOutput, error) {
	return ask[TaskOutput](ctx, c, "get_task_output", map[string]string{"task_id": taskID})
}

// CancelMessage removes a prompt from the queue and reports whether it was queued. Its turn
// ends with [ErrCancelled]. A running turn continues; see [Turn.Cancel].
func (c *Client) CancelMessage(ctx context.Context, messageUUID string) (bool, error) {
	cancelled, err := askMember[bool](ctx, c, "cancel_async_message", "cancelled", map[string]string{"message_uuid": messageUUID})
	if cancelled {
		c.r.cancelled([]string{messageUUID})
	}
	return cancelled, err
}
