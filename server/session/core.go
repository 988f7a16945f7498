package session

import (
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// maxKeys is the number of idempotency keys that a session stores. Retries follow soon after their
// request, so the oldest are dropped first.
const maxKeys = 4096

// core is the server's state of a session except its conversation. It is a fold of the facts in the
// log, without a clock and without I/O: its methods decide, and the actor executes the decisions.
// Snapshots contain it as JSON.
type core struct {
	ID          string          `json:"id"`
	Provider    string          `json:"provider"`
	AgentID     string          `json:"agent_id,omitempty"` // the agent's session id
	Memory      memory          `json:"memory,omitzero"`
	Kept        fileSize        `json:"kept,omitzero"`
	Opened      Opened          `json:"opened"`
	State       State           `json:"state"`
	Inputs      []input         `json:"inputs,omitempty"` // in flight and waiting, in order
	Requests    []pendingPrompt `json:"requests,omitempty"`
	Waits       waits           `json:"waits,omitzero"`
	Keys        []accepted      `json:"keys,omitempty"`
	Title       string          `json:"title,omitempty"`
	TitleBy     string          `json:"title_by,omitempty"` // person, agent, prompt
	Model       string          `json:"model,omitempty"`
	Mode        string          `json:"mode,omitempty"`
	Thinking    *thinking       `json:"thinking,omitempty"`
	Effort      string          `json:"effort,omitempty"`
	Archived    bool            `json:"archived,omitempty"`
	InTerminal  bool            `json:"away,omitempty"` // a terminal may have continued it
	Updated     string          `json:"updated,omitempty"`
	Turns       int64           `json:"turns,omitempty"`
	FirstPrompt string          `json:"first_prompt,omitempty"` // the beginning of the prompt
	Limited     string          `json:"limited,omitempty"`      // the end of a rate limit
	Began       string          `json:"began,omitempty"`        // the files before the first turn, as a git tree
	Dearest     budget.Amount   `json:"dearest,omitzero"`       // the highest usage of a turn
	Lost        []string        `json:"lost,omitempty"`         // losses of the log that a notice reports
	Marks       []mark          `json:"marks,omitempty"`
	Taken       []taken         `json:"taken,omitempty"`
	Comments    []comment       `json:"comments,omitempty"`
	Host        uint32          `json:"host,omitempty"`    // the number of the agent at its host
	HostIn      string          `json:"host_in,omitempty"` // in a cluster: the key of its host
	Box         *api.Box        `json:"box,omitempty"`     // the box of this agent
	Line        uint64          `json:"line,omitempty"`    // the last line of the agent that the log accounts for
	Given       []keptAnswer    `json:"given,omitempty"`
	Owner       ownedBy         `json:"owner,omitzero"` // in a cluster: the server that wrote last

	told []input // the queue known to viewers, replaced as a whole
}

// draft is an event to write, with its facts. The event of a change of the queue or the state is
// created after the facts have been applied.
type draft struct {
	event event.Event
	queue bool // the event is the change of the queue by the facts
	facts *facts
}

// applyRequests folds new, changed and closed requests.
func (c *core) applyRequests(ts string, f *facts) {
	if f.Asked != nil {
		r := pendingPrompt{f.Asked.AskedAt, f.Asked.prompt}
		if i := slices.IndexFunc(c.Requests, func(o pendingPrompt) bool { return o.id() == r.id() }); i >= 0 {
			c.Requests[i] = r
		} else {
			c.Requests = append(c.Requests, r)
		}
	}
	if f.Resolved != "" {
		c.Requests = slices.DeleteFunc(c.Requests, func(r pendingPrompt) bool { return r.id() == f.Resolved })
	}
	c.Waits.note(len(c.Requests) > 0, ts)
}

// apply folds the facts of a record.
func (c *core) apply(seq uint64, ts string, f *facts) {
	c.Updated = ts
	if f == nil {
		return
	}
	if f.Opened != nil {
		c.Opened, c.Provider = *f.Opened, f.Opened.Provider
		c.Mode, c.Model, c.Effort = f.Opened.Params.PermissionMode, f.Opened.Params.Model, f.Opened.Params.Effort
	}
	set(&c.AgentID, f.AgentID)
	if f.Host != nil {
		c.Host, c.HostIn, c.Box, c.Line = *f.Host, f.HostIn, f.Box, 0
	}
	c.Line = max(c.Line, f.Line)
	if f.Owner != nil {
		c.Owner = *f.Owner
	}
	if f.Given != nil {
		c.Given = append(c.Given, *f.Given)
	}
	if f.State != "" && !f.State.busy() {
		c.Given = nil // the turn that asked has ended
	}
	if f.Memory != nil {
		c.Memory = *f.Memory
	}
	if f.Kept != nil {
		c.Kept = *f.Kept
	}
	if f.State != "" {
		if f.State == Idle && c.State.busy() {
			c.Turns++
			c.Waits = waits{}
		}
		c.State = f.State
	}
	c.applyInputs(f)
	c.applyRequests(ts, f)
	if f.Taken != nil {
		c.Taken = slices.Clone(*f.Taken)
	}
	if f.Key != nil {
		k := *f.Key
		if k.Seq == 0 {
			k.Seq = seq
		}
		if len(c.Keys) >= maxKeys {
			c.Keys = slices.Delete(c.Keys, 0, 1)
		}
		c.Keys = append(c.Keys, k)
	}
	c.Lost = append(c.Lost, f.Lost...)
	if f.Mark != nil {
		c.applyMark(*f.Mark)
	}
	c.applyComments(f)
	c.applySettings(f)
}

func (c *core) applyInputs(f *facts) {
	for _, in := range f.Inputs {
		if c.FirstPrompt == "" {
			c.FirstPrompt = promptTitle(in.text())
		}
		i := slices.IndexFunc(c.Inputs, func(old input) bool { return old.ID == in.ID })
		switch {
		case i < 0 && len(in.Content) == 0: // the record with its content is lost
		case i < 0:
			c.Inputs = append(c.Inputs, in)
		default:
			if len(in.Content) == 0 {
				in.Content = c.Inputs[i].Content
			}
			c.Inputs[i] = in
		}
	}
	c.Inputs = slices.DeleteFunc(c.Inputs, func(in input) bool { return slices.Contains(f.Removed, in.ID) })
	if len(f.Order) > 0 {
		place := map[string]int{}
		for i, id := range f.Order {
			place[id] = i
		}
		slices.SortStableFunc(c.Inputs, func(a, b input) int {
			pa, oka := place[a.ID]
			pb, okb := place[b.ID]
			switch {
			case oka && okb:
				return pa - pb
			case oka:
				return 1 // the agent's inputs come first
			case okb:
				return -1
			}
			return 0
		})
	}
}

func (c *core) applySettings(f *facts) {
	set(&c.Title, f.Title)
	set(&c.TitleBy, f.TitleBy)
	set(&c.Mode, f.Mode)
	if f.Model != nil {
		c.Model = *f.Model
	}
	if f.Thinking != nil {
		c.Thinking = f.Thinking
	}
	if f.Effort != nil {
		c.Effort = *f.Effort
	}
	if f.Archived != nil {
		c.Archived = *f.Archived
	}
	if f.InTerminal != nil {
		c.InTerminal = *f.InTerminal
	}
	if f.Dearest != nil {
		c.Dearest = *f.Dearest
	}
	if f.Limited != nil {
		c.Limited = *f.Limited
	}
}

// clone returns a copy that shares no data that apply changes.
func (c *core) clone() core {
	d := *c
	d.Inputs, d.Requests, d.Keys = slices.Clone(c.Inputs), slices.Clone(c.Requests), slices.Clone(c.Keys)
	d.Given = slices.Clone(c.Given)
	d.Lost, d.Marks, d.Comments = slices.Clone(c.Lost), slices.Clone(c.Marks), slices.Clone(c.Comments)
	d.Taken = slices.Clone(c.Taken)
	return d
}

func set(dst *string, s string) {
	if s != "" {
		*dst = s
	}
}

// header returns the header of an event of the server.
func (c *core) header(uuid string) event.Header {
	return event.Header{UUID: uuid, SessionID: c.AgentID, Provider: c.Provider}
}

// accepted returns the response to the request with this key.
func (c *core) accepted(key string) (accepted, bool) {
	if key == "" {
		return accepted{}, false
	}
	for _, k := range slices.Backward(c.Keys) {
		if sameKey(k.Key, key) {
			return k, true
		}
	}
	return accepted{}, false
}

// occur changes the state according to the table. An occurrence that is not in the table is an
// error and has no effect.
func (c *core) occur(o occurrence) ([]draft, error) {
	to, err := c.State.next(o)
	if err != nil || to == c.State {
		return nil, err
	}
	return []draft{c.stateDraft(to)}, nil
}

func (c *core) stateDraft(to State) draft {
	return draft{event: &event.SessionState{Header: c.header(""), State: string(to)}, facts: &facts{State: to}}
}

// result ends a turn: the inputs that the agent has confirmed are done.
func (c *core) result() []draft {
	var done []string
	busy := false
	for _, in := range c.inflight() {
		if in.Status == inputDelivered {
			done = append(done, in.ID)
		} else {
			busy = true
		}
	}
	drafts := c.closeRequests(event.ResolvedCancelled)
	f := &facts{Removed: done}
	to, err := c.State.next(onResult)
	if err != nil || busy {
		to = c.State.asking(len(c.Requests) > len(drafts))
	}
	if to == c.State && len(done) == 0 {
		return drafts
	}
	f.State = to
	return append(drafts, draft{event: &event.SessionState{Header: c.header(""), State: string(to)}, facts: f})
}

// died returns the consequences of the agent's death: its requests expire, the turn is interrupted,
// and unconfirmed inputs are sorted by fate.
func (c *core) died(fate func(input) agent.Delivery) []draft {
	drafts := c.closeRequests(event.ResolvedExpired)
	f := &facts{}
	for _, in := range c.inflight() {
		if in.Status == inputDelivered {
			f.Removed = append(f.Removed, in.ID)
			continue
		}
		switch fate(in) {
		case agent.Delivered:
			f.Removed = append(f.Removed, in.ID)
		case agent.NotDelivered:
			in.Status = inputHeld
			f.Inputs = append(f.Inputs, in)
		default:
			in.Status = inputUnknown
			f.Inputs = append(f.Inputs, in)
		}
	}
	if len(f.Inputs) > 0 || len(f.Removed) > 0 {
		drafts = append(drafts, draft{queue: true, facts: f})
	}
	if more, err := c.occur(onDied); err == nil {
		drafts = append(drafts, more...)
	}
	return drafts
}

// hold keeps queued inputs from being sent automatically.
func (c *core) hold() []draft {
	f := &facts{}
	for _, in := range c.Inputs {
		if in.Status == inputQueued {
			in.Status = inputHeld
			f.Inputs = append(f.Inputs, in)
		}
	}
	if len(f.Inputs) == 0 {
		return nil
	}
	return []draft{{queue: true, facts: f}}
}
