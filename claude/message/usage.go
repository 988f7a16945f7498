package message

// Usage counts the tokens of one answer, as the API reports them. Members that an answer does
// not have are zero or nil.
type Usage struct {
	InputTokens              int64                `json:"input_tokens"`
	OutputTokens             int64                `json:"output_tokens"`
	CacheCreationInputTokens int64                `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     int64                `json:"cache_read_input_tokens,omitempty"`
	CacheCreation            *CacheCreation       `json:"cache_creation,omitempty"`
	OutputTokensDetails      *OutputTokensDetails `json:"output_tokens_details,omitempty"`
	ServerToolUse            *ServerToolUsage     `json:"server_tool_use,omitempty"`
	ServiceTier              string               `json:"service_tier,omitempty"`
	InferenceGeo             string               `json:"inference_geo,omitempty"`
	Speed                    string               `json:"speed,omitempty"`
	Iterations               []UsageIteration     `json:"iterations,omitempty"`
	FallbackCredit           JSON                 `json:"fallback_credit,omitempty"`
}

// CacheCreation splits the tokens that were written to the prompt cache by how long they stay
// there: an hour or five minutes.
type CacheCreation struct {
	Ephemeral1hInputTokens int64 `json:"ephemeral_1h_input_tokens"`
	Ephemeral5mInputTokens int64 `json:"ephemeral_5m_input_tokens"`
}

// OutputTokensDetails splits the output tokens. ThinkingTokens is the part used for thinking,
// which is billed as output.
type OutputTokensDetails struct {
	ThinkingTokens int64 `json:"thinking_tokens"`
}

// ServerToolUsage counts the tool calls that the API ran during one answer, by tool.
type ServerToolUsage struct {
	WebSearchRequests int64 `json:"web_search_requests"`
	WebFetchRequests  int64 `json:"web_fetch_requests"`
}

// UsageIteration is the usage of one step of a request that the API handled in several steps,
// such as a compaction.
type UsageIteration struct {
	Type                     string         `json:"type"` // message, compaction, …
	Model                    string         `json:"model,omitempty"`
	InputTokens              int64          `json:"input_tokens"`
	OutputTokens             int64          `json:"output_tokens"`
	CacheCreationInputTokens int64          `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     int64          `json:"cache_read_input_tokens,omitempty"`
	CacheCreation            *CacheCreation `json:"cache_creation,omitempty"`
}

// ModelUsage is the usage of one model so far and its cost in US dollars, over all agents of
// the process.
type ModelUsage struct {
	InputTokens                         int64   `json:"inputTokens"`
	OutputTokens                        int64   `json:"outputTokens"`
	ThinkingTokens                      int64   `json:"thinkingTokens,omitempty"`
	CacheReadInputTokens                int64   `json:"cacheReadInputTokens"`
	CacheCreationInputTokens            int64   `json:"cacheCreationInputTokens"`
	CacheCreationEphemeral5mInputTokens int64   `json:"cacheCreationEphemeral5mInputTokens,omitempty"`
	CacheCreationEphemeral1hInputTokens int64   `json:"cacheCreationEphemeral1hInputTokens,omitempty"`
	WebSearchRequests                   int64   `json:"webSearchRequests"`
	CostUSD                             float64 `json:"costUSD"`
	ContextWindow                       int64   `json:"contextWindow"`
	MaxOutputTokens                     int64   `json:"maxOutputTokens"`
	CanonicalModel                      string  `json:"canonicalModel,omitempty"`
	Provider                            string  `json:"provider,omitempty"`
	CostBasis                           string  `json:"costBasis,omitempty"` // list, managed, unknown
}
