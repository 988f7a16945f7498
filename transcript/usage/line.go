package usage

import (
	"encoding/json"
	"time"
)

// answer holds the data of one line of an answer. Its texts share the memory of the line and are
// not unescaped.
type answer struct {
	id, request, model        []byte
	session, cwd, branch      []byte
	agent                     []byte
	at                        int64 // milliseconds since 1970
	used                      Tokens
	sidechain, forked, broken bool // broken: interrupted while it was streamed
	fast, us                  bool // priced differently
	counts                    bool // the line has a usage
}

// verdict is the classification of a line by its beginning.
type verdict int

const (
	unclear verdict = iota // more of the line is needed
	useless
	useful
	compaction // a boundary; the rest of the line does not matter
)

// judge classifies the beginning of a line, which may be cut off anywhere: tool results,
// attachments and records of requests, nearly all bytes of a transcript, can be recognized there as
// lines without usage.
func judge(head []byte) verdict {
	c := cursor{b: head}
	for m := c.members(); m.next(); {
		switch string(m.key) {
		case "type":
			kind := c.str()
			if c.broken {
				return unclear
			}
			return judgeType(kind, &c)
		case "attachment":
			return useless
		case "message":
			return judgeMessage(&c)
		default:
			if k := c.peek(); k == '{' || k == '[' {
				return useful // the rest has to be parsed
			}
			c.skip()
		}
	}
	return unclear
}

func judgeType(kind []byte, c *cursor) verdict {
	switch string(kind) {
	case "assistant", "progress", "cost-state":
		return useful
	case "system":
		c.take(',')
		if string(c.text()) == "subtype" && c.take(':') && string(c.text()) == "compact_boundary" {
			return compaction
		}
	}
	return useless
}

// judgeMessage classifies a message that precedes the type of its line.
func judgeMessage(c *cursor) verdict {
	for m := c.members(); m.next(); {
		if string(m.key) == "role" {
			role := c.str()
			switch {
			case c.broken:
				return unclear
			case string(role) == "assistant":
				return useful
			}
			return useless
		}
		if k := c.peek(); k == '{' || k == '[' {
			return useful
		}
		c.skip()
	}
	if c.broken {
		return unclear
	}
	return useful
}

// entryLine is a complete line.
type entryLine struct {
	kind []byte
	answer
	bill *bill
}

// parse parses a complete line. It returns false for a line that is not a JSON object, or is cut off.
func (e *entryLine) parse(line []byte) bool {
	*e = entryLine{}
	c := cursor{b: line}
	if c.peek() != '{' {
		return false
	}
	e.members(&c)
	if c.space(); c.broken || c.i < len(c.b) {
		return false
	}
	if string(e.kind) == "cost-state" {
		e.bill = parseBill(line)
	}
	e.counts = e.counts && (string(e.kind) == "assistant" || string(e.kind) == "progress")
	return true
}

func (e *entryLine) members(c *cursor) {
	for m := c.members(); m.next(); {
		switch string(m.key) {
		case "type":
			e.kind = c.str()
		case "message":
			e.message(c)
		case "data": // the line of a subagent, inside a progress record
			e.progress(c)
		case "requestId":
			e.request = c.str()
		case "sessionId":
			e.session = c.str()
		case "timestamp":
			e.at = parseTime(c.str())
		case "cwd":
			e.cwd = c.str()
		case "gitBranch":
			e.branch = c.str()
		case "agentId":
			e.agent = c.str()
		case "isSidechain":
			e.sidechain = c.isTrue()
		case "forkedFrom":
			e.forked = c.peek() == '{'
			c.skip()
		case "isAbortedMidStream":
			e.broken = c.isTrue()
		default:
			c.skip()
		}
	}
}

// progress reads the line inside a progress record: its members override those of the record.
func (e *entryLine) progress(c *cursor) {
	for m := c.members(); m.next(); {
		if string(m.key) != "message" {
			c.skip()
			continue
		}
		outer := *e
		e.members(c)
		e.kind, e.sidechain = outer.kind, true
		if e.session == nil {
			e.session = outer.session
		}
	}
}

func (e *entryLine) message(c *cursor) {
	for m := c.members(); m.next(); {
		switch string(m.key) {
		case "id":
			e.id = c.str()
		case "model":
			e.model = c.str()
		case "usage":
			e.counts = c.peek() == '{'
			e.usage(c)
		default:
			c.skip()
		}
	}
}

func (e *entryLine) usage(c *cursor) {
	var written int64
	for m := c.members(); m.next(); {
		switch string(m.key) {
		case "input_tokens":
			e.used.Input = c.int()
		case "output_tokens":
			e.used.Output = c.int()
		case "cache_read_input_tokens":
			e.used.CacheRead = c.int()
		case "cache_creation_input_tokens":
			written = c.int()
		case "cache_creation":
			for n := c.members(); n.next(); {
				switch string(n.key) {
				case "ephemeral_5m_input_tokens":
					e.used.CacheWrite5m = c.int()
				case "ephemeral_1h_input_tokens":
					e.used.CacheWrite1h = c.int()
				default:
					c.skip()
				}
			}
		case "server_tool_use":
			for n := c.members(); n.next(); {
				if string(n.key) == "web_search_requests" {
					e.used.WebSearches = c.int()
				} else {
					c.skip()
				}
			}
		case "speed":
			e.fast = string(c.str()) == "fast"
		case "inference_geo":
			e.us = string(c.str()) == "us"
		default:
			c.skip()
		}
	}
	// Cache writes without a duration are for five minutes.
	if rest := written - e.used.CacheWrite(); rest > 0 {
		e.used.CacheWrite5m += rest
	}
}

// parseTime parses a time as the CLI writes it, 2026-11-15T02:05:26.774Z, or in another form of RFC
// 3339; it returns 0 for an invalid time.
func parseTime(s []byte) int64 {
	if len(s) == 24 && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':' && s[16] == ':' && s[19] == '.' && s[23] == 'Z' {
		year, month, day := number(s[0:4]), number(s[5:7]), number(s[8:10])
		hour, minute, second, milli := number(s[11:13]), number(s[14:16]), number(s[17:19]), number(s[20:23])
		plain := min(year, milli) >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= 28
		if plain && min(hour, minute, second) >= 0 && hour < 24 && minute < 60 && second < 60 {
			return (days(year, month, day)*86400+hour*3600+minute*60+second)*1000 + milli
		}
	}
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// number parses s as a number; it returns a negative value if s is not a number.
func number(s []byte) int64 {
	n := int64(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// days counts the days from 1970 in the Gregorian calendar. Years start in March here, so that the
// leap day is the last day.
func days(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

// bill is the cost of a session up to a point, as reported by the CLI.
type bill struct {
	SessionID           string
	TotalCostUSD        float64
	HasUnknownModelCost bool
	ModelUsage          map[string]struct {
		InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens int64
		CacheCreationEphemeral5mInputTokens, CacheCreationEphemeral1hInputTokens  int64
		WebSearchRequests                                                         int64
		CostUSD                                                                   float64
	}
}

// parseBill parses a line of type cost-state; it returns nil for another form.
func parseBill(line []byte) *bill {
	b := &bill{}
	if json.Unmarshal(line, b) != nil {
		return nil
	}
	return b
}
