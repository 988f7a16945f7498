package tool

import "github.com/seed7221b0f9/parley/claude/message"

// CronCreateInput is the input of CronCreate: a prompt, and the times at which the session runs
// it.
type CronCreateInput struct {
	Cron      string `json:"cron"` // five fields, local time
	Prompt    string `json:"prompt"`
	Recurring *bool  `json:"recurring,omitempty"` // nil: yes
	Durable   bool   `json:"durable,omitempty"`   // outlives the process
}

// CronCreateResult is the result of CronCreate: the id of the job, its schedule in words, and
// its next time.
type CronCreateResult struct {
	ID            string `json:"id"`
	HumanSchedule string `json:"humanSchedule"`
	Recurring     bool   `json:"recurring"`
	Durable       bool   `json:"durable,omitempty"`
	NextFireAt    int64  `json:"nextFireAt,omitempty"` // milliseconds since 1970
}

// CronDeleteInput is the input of CronDelete: the id of the scheduled prompt to delete, as
// CronCreate returned it.
type CronDeleteInput struct {
	ID string `json:"id"`
}

// CronDeleteResult is the result of CronDelete: the id of the job, and whether a loop ended
// with it.
type CronDeleteResult struct {
	ID              string `json:"id"`
	EndedLoopWakeup bool   `json:"endedLoopWakeup,omitempty"`
}

// CronListInput is the input of CronList, which takes no arguments and lists all scheduled
// prompts of the session.
type CronListInput struct{}

// CronListResult is the result of CronList: the scheduled prompts that the session has at the
// moment.
type CronListResult struct {
	Jobs []CronJob `json:"jobs"`
}

// CronJob is a scheduled prompt: its schedule as a cron expression and in words, and whether it
// recurs.
type CronJob struct {
	ID            string `json:"id"`
	Cron          string `json:"cron"`
	HumanSchedule string `json:"humanSchedule"`
	Prompt        string `json:"prompt"`
	Recurring     *bool  `json:"recurring,omitempty"`
	Durable       *bool  `json:"durable,omitempty"`
	NextFireAt    int64  `json:"nextFireAt,omitempty"` // milliseconds since 1970
}

// ScheduleWakeupInput is the input of ScheduleWakeup: the delay, and the prompt with which the
// agent continues.
type ScheduleWakeupInput struct {
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Prompt       string   `json:"prompt,omitempty"`
	Stop         bool     `json:"stop,omitempty"` // end the loop instead of continuing
	Noop         *bool    `json:"noop,omitempty"` // true: there was no change this time
}

// ScheduleWakeupResult is the result of ScheduleWakeup: the time of the wakeup, and whether the
// delay was limited.
type ScheduleWakeupResult struct {
	ScheduledFor        int64   `json:"scheduledFor"` // milliseconds since 1970
	ClampedDelaySeconds float64 `json:"clampedDelaySeconds"`
	WasClamped          bool    `json:"wasClamped"`
	Stopped             bool    `json:"stopped,omitempty"`
	CancelledWakeups    *int64  `json:"cancelledWakeups,omitempty"`
}

// RemoteTriggerInput is the input of RemoteTrigger, which manages agents in the cloud that are
// started by a schedule or a webhook.
type RemoteTriggerInput struct {
	Action    string       `json:"action"` // list, get, create, update, run, create_webhook_trigger, list_runs, get_run_log
	TriggerID string       `json:"trigger_id,omitempty"`
	SessionID string       `json:"session_id,omitempty"`
	Cursor    string       `json:"cursor,omitempty"`
	Body      message.JSON `json:"body,omitempty"` // an object
}

// RemoteTriggerResult is the result of RemoteTrigger: the HTTP status of the request, and the
// text of the answer.
type RemoteTriggerResult struct {
	Status  int64  `json:"status"` // of HTTP
	JSON    string `json:"json"`   // the answer's text
	Summary string `json:"summary,omitempty"`
}

// PushNotificationInput is the input of PushNotification: the text of a notification that is
// sent to the user's devices.
type PushNotificationInput struct {
	Message string `json:"message"`
	Status  string `json:"status,omitempty"` // proactive
}

// PushNotificationResult is the result of PushNotification: the targets of the notification, or
// the reason why it was not sent.
type PushNotificationResult struct {
	Message        string `json:"message"`
	PushSent       *bool  `json:"pushSent,omitempty"`
	LocalSent      *bool  `json:"localSent,omitempty"`
	DisabledReason string `json:"disabledReason,omitempty"` // config_off, user_present, no_transport
	SentAt         string `json:"sentAt,omitempty"`
}

// ReadNotificationsInput is the input of ReadNotifications, which takes no arguments and
// returns queued notifications.
type ReadNotificationsInput struct{}

// ReadNotificationsResult is the result of ReadNotifications: some of the queued notifications,
// and the number that remain.
type ReadNotificationsResult struct {
	Notifications []QueuedNotification `json:"notifications"`
	Remaining     int64                `json:"remaining"`
	ReadAt        string               `json:"read_at,omitempty"`
}

// QueuedNotification is a notification queued for the agent: its source, text, and times.
type QueuedNotification struct {
	NotificationID string `json:"notification_id"`
	Origin         string `json:"origin"`
	QueuedAt       string `json:"queued_at"`
	Content        string `json:"content"`
	ArrivedAt      string `json:"arrived_at,omitempty"`
}

// SendFeedbackInput is the input of SendFeedback: a bug, an idea or a missing capability that
// the agent reports.
type SendFeedbackInput struct {
	Type         string `json:"type"` // bug, idea, missing_capability
	Title        string `json:"title"`
	Details      string `json:"details"`
	Area         string `json:"area,omitempty"`
	FailureMode  string `json:"failure_mode,omitempty"`
	TaskCategory string `json:"task_category,omitempty"`
}

// SendFeedbackResult is the result of SendFeedback: whether the feedback was accepted, and a
// message about it.
type SendFeedbackResult struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// ShowOnboardingRolePickerInput is the input of ShowOnboardingRolePicker, which takes no
// arguments and asks users for their role.
type ShowOnboardingRolePickerInput struct{}

// ShowOnboardingRolePickerResult is the result of ShowOnboardingRolePicker: the role that the
// user chose, or that the picker was dismissed.
type ShowOnboardingRolePickerResult struct {
	Role      string `json:"role,omitempty"`
	Dismissed bool   `json:"dismissed,omitempty"`
}

// OfferChromeSetupInput is the input of OfferChromeSetup: the reason why the agent offers to
// connect the user's browser.
type OfferChromeSetupInput struct {
	Reason string `json:"reason,omitempty"`
}

// OfferChromeSetupResult is the result of OfferChromeSetup: whether the browser was connected,
// or the user declined for now.
type OfferChromeSetupResult struct {
	Outcome string `json:"outcome"` // connected, not_now, no_attempt_yet
}
