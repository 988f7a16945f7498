package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// UsageInfo is what the session has used and how much of the account's limits
// is left.
type UsageInfo struct {
	Session          message.SessionUsage `json:"session"`
	SubscriptionType string               `json:"subscription_type"` // "" without a subscription
	// RateLimitsAvailable says whether the account has limits; RateLimits may be
	// nil all the same.
	RateLimitsAvailable bool            `json:"rate_limits_available"`
	RateLimits          *UsageLimits    `json:"rate_limits"`
	Behaviors           *UsageBehaviors `json:"behaviors"`

	answer
}

// UsageLimits are the limits of a subscription; nil where there is none.
type UsageLimits struct {
	FiveHour          *UsageLimit       `json:"five_hour,omitempty"`
	SevenDay          *UsageLimit       `json:"seven_day,omitempty"`
	SevenDayOAuthApps *UsageLimit       `json:"seven_day_oauth_apps,omitempty"`
	SevenDayOpus      *UsageLimit       `json:"seven_day_opus,omitempty"`
	SevenDaySonnet    *UsageLimit       `json:"seven_day_sonnet,omitempty"`
	ModelScoped       []ModelUsageLimit `json:"model_scoped,omitempty"`
	ExtraUsage        *ExtraUsage       `json:"extra_usage,omitempty"`
}

// UsageLimit is how far a limit is used up; nil is unknown.
type UsageLimit struct {
	Utilization *float64 `json:"utilization"`
	ResetsAt    *string  `json:"resets_at"`
}

// ModelUsageLimit is a limit for a model.
type ModelUsageLimit struct {
	UsageLimit

	DisplayName string `json:"display_name"`
}

// ExtraUsage is what may be used beyond the limits; nil is unknown.
type ExtraUsage struct {
	IsEnabled    bool     `json:"is_enabled"`
	MonthlyLimit *float64 `json:"monthly_limit"`
	UsedCredits  *float64 `json:"used_credits"`
	Utilization  *float64 `json:"utilization"`
	Currency     string   `json:"currency,omitempty"`
}

// UsageBehaviors is what usage came from, on this machine.
type UsageBehaviors struct {
	Day  UsageWindow `json:"day"`
	Week UsageWindow `json:"week"`
}

// UsageWindow is what the usage of a time came from.
type UsageWindow struct {
	RequestCount    int64                 `json:"request_count"`
	SessionCount    int64                 `json:"session_count"`
	Behaviors       []UsageBehavior       `json:"behaviors"`
	Recommendations []UsageRecommendation `json:"recommendations,omitempty"`
	Fix             *UsageFix             `json:"fix,omitempty"`
	Agents          []UsageShare          `json:"agents"`
	Skills          []UsageShare          `json:"skills"`
	Plugins         []UsageShare          `json:"plugins"`
	MCPServers      []UsageShare          `json:"mcp_servers"`
}

// UsageBehavior is a habit and its share.
type UsageBehavior struct {
	Key   string  `json:"key"` // cache_miss, long_context, subagent_heavy …
	Pct   float64 `json:"pct"`
	Count int64   `json:"count"`
}

// UsageRecommendation is advice for using less.
type UsageRecommendation struct {
	Key    string  `json:"key"`
	Pct    float64 `json:"pct"`
	Title  string  `json:"title"`
	Detail string  `json:"detail,omitempty"`
}

// UsageFix is what can be done about some habits.
type UsageFix struct {
	Keys     []string `json:"keys"`
	Messages []string `json:"messages"`
}

// UsageShare is the share of something that has a name.
type UsageShare struct {
	Name string  `json:"name"`
	Pct  float64 `json:"pct"`
}

// FetchUsage returns what the session has used, without Behaviors.
func (c *Client) FetchUsage(ctx context.Context) (*UsageInfo, error) { return c.usage(ctx, false) }

// FetchUsageBehaviors is [Client.FetchUsage] with Behaviors, for which the CLI reads
// the transcripts of the machine. They may be missing all the same.
func (c *Client) FetchUsageBehaviors(ctx context.Context) (*UsageInfo, error) {
	return c.usage(ctx, true)
}

func (c *Client) usage(ctx context.Context, behaviors bool) (*UsageInfo, error) {
	fields := struct {
		SkipBehaviors bool `json:"skip_behaviors,omitempty"`
	}{!behaviors}
	return ask[UsageInfo](ctx, c, "get_usage", fields)
}

// FetchSessionCost returns what the session has cost, as a text for people.
func (c *Client) FetchSessionCost(ctx context.Context) (string, error) {
	return askMember[string](ctx, c, "get_session_cost", "text", nil)
}
