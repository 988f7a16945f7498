package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// UsageInfo holds the usage of the session and the state of the account's limits.
type UsageInfo struct {
	Session          message.SessionUsage `json:"session"`
	SubscriptionType string               `json:"subscription_type"` // "" without a subscription
	// RateLimitsAvailable reports whether the account has limits; RateLimits may still be nil.
	RateLimitsAvailable bool            `json:"rate_limits_available"`
	RateLimits          *UsageLimits    `json:"rate_limits"`
	Behaviors           *UsageBehaviors `json:"behaviors"`

	answer
}

// UsageLimits holds the limits of a subscription, by period and by model. A member is nil where
// the subscription has no such limit.
type UsageLimits struct {
	FiveHour          *UsageLimit       `json:"five_hour,omitempty"`
	SevenDay          *UsageLimit       `json:"seven_day,omitempty"`
	SevenDayOAuthApps *UsageLimit       `json:"seven_day_oauth_apps,omitempty"`
	SevenDayOpus      *UsageLimit       `json:"seven_day_opus,omitempty"`
	SevenDaySonnet    *UsageLimit       `json:"seven_day_sonnet,omitempty"`
	ModelScoped       []ModelUsageLimit `json:"model_scoped,omitempty"`
	ExtraUsage        *ExtraUsage       `json:"extra_usage,omitempty"`
}

// UsageLimit reports how much of a limit is used and when it is reset. A member is nil if the
// CLI does not know it.
type UsageLimit struct {
	Utilization *float64 `json:"utilization"`
	ResetsAt    *string  `json:"resets_at"`
}

// ModelUsageLimit is a [UsageLimit] that applies to a single model, with the name under which
// people know that model.
type ModelUsageLimit struct {
	UsageLimit

	DisplayName string `json:"display_name"`
}

// ExtraUsage is the usage beyond the limits that the account pays for, if it is enabled. A
// member is nil if it is unknown.
type ExtraUsage struct {
	IsEnabled    bool     `json:"is_enabled"`
	MonthlyLimit *float64 `json:"monthly_limit"`
	UsedCredits  *float64 `json:"used_credits"`
	Utilization  *float64 `json:"utilization"`
	Currency     string   `json:"currency,omitempty"`
}

// UsageBehaviors describes which habits caused the usage on this machine, during the last day
// and during the last week.
type UsageBehaviors struct {
	Day  UsageWindow `json:"day"`
	Week UsageWindow `json:"week"`
}

// UsageWindow lists the causes of the usage within a period: habits, agents, skills, plugins
// and MCP servers, with their shares.
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

// UsageBehavior is a habit that costs tokens, such as long contexts, with its share of the
// usage and how often it occurred.
type UsageBehavior struct {
	Key   string  `json:"key"` // cache_miss, long_context, subagent_heavy …
	Pct   float64 `json:"pct"`
	Count int64   `json:"count"`
}

// UsageRecommendation is advice about using fewer tokens, for people, and the share of the
// usage that it is about.
type UsageRecommendation struct {
	Key    string  `json:"key"`
	Pct    float64 `json:"pct"`
	Title  string  `json:"title"`
	Detail string  `json:"detail,omitempty"`
}

// UsageFix holds advice for display, a list of messages about the habits in its keys.
type UsageFix struct {
	Keys     []string `json:"keys"`
	Messages []string `json:"messages"`
}

// UsageShare is the share of the usage that one agent, skill, plugin or server has, with its
// name.
type UsageShare struct {
	Name string  `json:"name"`
	Pct  float64 `json:"pct"`
}

// FetchUsage returns the usage of the session so far and the limits of the account. It omits
// Behaviors, which take longer.
func (c *Client) FetchUsage(ctx context.Context) (*UsageInfo, error) { return c.usage(ctx, false) }

// FetchUsageBehaviors is like [Client.FetchUsage] but includes Behaviors, for which the CLI
// reads the transcripts on its machine. Behaviors may still be missing.
func (c *Client) FetchUsageBehaviors(ctx context.Context) (*UsageInfo, error) {
	return c.usage(ctx, true)
}

func (c *Client) usage(ctx context.Context, behaviors bool) (*UsageInfo, error) {
	fields := struct {
		SkipBehaviors bool `json:"skip_behaviors,omitempty"`
	}{!behaviors}
	return ask[UsageInfo](ctx, c, "get_usage", fields)
}

// FetchSessionCost returns the cost of the session so far, as text for display.
// [Client.FetchUsage] returns the numbers.
func (c *Client) FetchSessionCost(ctx context.Context) (string, error) {
	return askMember[string](ctx, c, "get_session_cost", "text", nil)
}
