package message

// Usage is the API's count of tokens.
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

// CacheCreation splits cache writes by how long they live.
type CacheCreation struct {
	Ephemeral1hInputTokens int64 `json:"ephemeral_1h_input_tokens"`
	Ephemeral5mInputTokens int64 `json:"ephemeral_5m_input_tokens"`
}

// OutputTokensDetails splits output tokens.
type OutputTokensDetails struct {
	ThinkingTokens int64 `json:"thinking_tokens"`
}

// ServerToolUsage counts calls of tools on the API's side.
type ServerToolUsage struct {
	WebSearchRequests int64 `json:"web_search_requests"`
	WebFetchRequests  int64 `json:"web_fetch_requests"`
}

// UsageIteration is the usage of one step inside one request.
type UsageIteration struct {
	Type                     string         `json:"type"` // message, compaction, …
	Model                    string         `json:"model,omitempty"`
	InputTokens              int64          `json:"input_tokens"`
	OutputTokens             int64          `json:"output_tokens"`
	CacheCreationInputTokens int64          `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     int64          `json:"cache_read_input_tokens,omitempty"`
	CacheCreation            *CacheCreation `json:"cache_creation,omitempty"`
}

// ModelUsage is what one model has used and cost, in all agents of the process.
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
