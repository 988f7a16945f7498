package tool

import "github.com/seed7221b0f9/parley/claude/message"

// CronCreateInput is the input of CronCreate: a prompt for later.
type CronCreateInput struct {
	Cron      string `json:"cron"` // five fields, local time
	Prompt    string `json:"prompt"`
	Recurring *bool  `json:"recurring,omitempty"` // nil: yes
	Durable   bool   `json:"durable,omitempty"`   // outlives the process
}

// CronCreateResult is the result of CronCreate.
type CronCreateResult struct {
	ID            string `json:"id"`
	HumanSchedule string `json:"humanSchedule"`
	Recurring     bool   `json:"recurring"`
	Durable       bool   `json:"durable,omitempty"`
	NextFireAt    int64  `json:"nextFireAt,omitempty"` // milliseconds since 1970
}

// CronDeleteInput is the input of CronDelete.
type CronDeleteInput struct {
	ID string `json:"id"`
}

// CronDeleteResult is the result of CronDelete.
type CronDeleteResult struct {
	ID              string `json:"id"`
	EndedLoopWakeup bool   `json:"endedLoopWakeup,omitempty"`
}

// CronListInput is the input of CronList, which takes nothing.
type CronListInput struct{}

// CronListResult is the result of CronList.
type CronListResult struct {
	Jobs []CronJob `json:"jobs"`
}

// CronJob is a prompt for later.
type CronJob struct {
	ID            string `json:"id"`
	Cron          string `json:"cron"`
	HumanSchedule string `json:"humanSchedule"`
	Prompt        string `json:"prompt"`
	Recurring     *bool  `json:"recurring,omitempty"`
	Durable       *bool  `json:"durable,omitempty"`
	NextFireAt    int64  `json:"nextFireAt,omitempty"` // milliseconds since 1970
}

// ScheduleWakeupInput is the input of ScheduleWakeup: when the agent goes on by
// itself.
type ScheduleWakeupInput struct {
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Prompt       string   `json:"prompt,omitempty"`
	Stop         bool     `json:"stop,omitempty"` // true: no more of it
	Noop         *bool    `json:"noop,omitempty"` // true: nothing had changed this time
}

// ScheduleWakeupResult is the result of ScheduleWakeup.
type ScheduleWakeupResult struct {
	ScheduledFor        int64   `json:"scheduledFor"` // milliseconds since 1970
	ClampedDelaySeconds float64 `json:"clampedDelaySeconds"`
	WasClamped          bool    `json:"wasClamped"`
	Stopped             bool    `json:"stopped,omitempty"`
	CancelledWakeups    *int64  `json:"cancelledWakeups,omitempty"`
}

// RemoteTriggerInput is the input of RemoteTrigger: agents in the cloud that
// start by themselves.
type RemoteTriggerInput struct {
	Action    string       `json:"action"` // list, get, create, update, run, create_webhook_trigger, list_runs, get_run_log
	TriggerID string       `json:"trigger_id,omitempty"`
	SessionID string       `json:"session_id,omitempty"`
	Cursor    string       `json:"cursor,omitempty"`
	Body      message.JSON `json:"body,omitempty"` // an object
}

// RemoteTriggerResult is the result of RemoteTrigger.
type RemoteTriggerResult struct {
	Status  int64  `json:"status"` // of HTTP
	JSON    string `json:"json"`   // the answer's text
	Summary string `json:"summary,omitempty"`
}

// PushNotificationInput is the input of PushNotification.
type PushNotificationInput struct {
	Message string `json:"message"`
	Status  string `json:"status,omitempty"` // proactive
}

// PushNotificationResult is the result of PushNotification.
type PushNotificationResult struct {
	Message        string `json:"message"`
	PushSent       *bool  `json:"pushSent,omitempty"`
	LocalSent      *bool  `json:"localSent,omitempty"`
	DisabledReason string `json:"disabledReason,omitempty"` // config_off, user_present, no_transport
	SentAt         string `json:"sentAt,omitempty"`
}

// ReadNotificationsInput is the input of ReadNotifications, which takes nothing.
type ReadNotificationsInput struct{}

// ReadNotificationsResult is the result of ReadNotifications.
type ReadNotificationsResult struct {
	Notifications []QueuedNotification `json:"notifications"`
	Remaining     int64                `json:"remaining"`
	ReadAt        string               `json:"read_at,omitempty"`
}

// QueuedNotification is a notification that waited for the agent.
type QueuedNotification struct {
	NotificationID string `json:"notification_id"`
	Origin         string `json:"origin"`
	QueuedAt       string `json:"queued_at"`
	Content        string `json:"content"`
	ArrivedAt      string `json:"arrived_at,omitempty"`
}

// SendFeedbackInput is the input of SendFeedback.
type SendFeedbackInput struct {
	Type         string `json:"type"` // bug, idea, missing_capability
	Title        string `json:"title"`
	Details      string `json:"details"`
	Area         string `json:"area,omitempty"`
	FailureMode  string `json:"failure_mode,omitempty"`
	TaskCategory string `json:"task_category,omitempty"`
}

// SendFeedbackResult is the result of SendFeedback.
type SendFeedbackResult struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// ShowOnboardingRolePickerInput is the input of ShowOnboardingRolePicker, which
// takes nothing.
type ShowOnboardingRolePickerInput struct{}

// ShowOnboardingRolePickerResult is the result of ShowOnboardingRolePicker.
type ShowOnboardingRolePickerResult struct {
	Role      string `json:"role,omitempty"`
	Dismissed bool   `json:"dismissed,omitempty"`
}

// OfferChromeSetupInput is the input of OfferChromeSetup.
type OfferChromeSetupInput struct {
	Reason string `json:"reason,omitempty"`
}

// OfferChromeSetupResult is the result of OfferChromeSetup.
type OfferChromeSetupResult struct {
	Outcome string `json:"outcome"` // connected, not_now, no_attempt_yet
}
