package agent

import "slices"

// Capabilities lists the features of a session and its provider. [CapabilitiesOf] derives it from
// the interfaces that they implement.
type Capabilities struct {
	Resume     bool
	History    bool
	Usage      bool
	Witness    bool
	Live       bool
	Follow     bool
	Catalog    bool
	Model      bool
	Modes      []string // nil if the session has no modes
	Thinking   bool
	Efforts    []string // nil if the session has no efforts
	Fork       bool
	Rewind     bool
	Background bool
	Tasks      bool
	Context    bool
	MCP        bool
	Title      bool
}

// CapabilitiesOf derives the capabilities of a session from its interfaces and those of its
// provider. The session may be nil: then only the capabilities of the provider are set.
func CapabilitiesOf(p Provider, s Session) Capabilities {
	c := Capabilities{
		Resume: is[Resumer](p), History: is[HistoryKeeper](p), Usage: is[UsageReporter](p), Witness: is[Witness](p),
		Live: is[LiveFinder](p), Follow: is[Follower](p), Catalog: is[Catalog](p) || is[Catalog](s),
		Model: is[ModelSetter](s), Thinking: is[ThinkingSetter](s), Fork: is[Forker](s), Rewind: is[Rewinder](s),
		Background: is[Backgrounder](s), Tasks: is[TaskController](s), Context: is[ContextReporter](s),
		MCP: is[MCPController](s), Title: is[Titler](s),
	}
	if m, ok := s.(ModeSetter); ok {
		c.Modes = slices.Clone(m.Modes())
	}
	if e, ok := s.(EffortSetter); ok {
		c.Efforts = slices.Clone(e.Efforts())
	}
	return c
}

// Names returns the names of the capabilities, in the order of their fields.
func (c Capabilities) Names() (names []string) {
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"resume", c.Resume}, {"history", c.History}, {"usage", c.Usage}, {"witness", c.Witness}, {"live", c.Live}, {"follow", c.Follow},
		{"catalog", c.Catalog}, {"model", c.Model}, {"modes", c.Modes != nil}, {"thinking", c.Thinking}, {"efforts", c.Efforts != nil}, {"fork", c.Fork},
		{"rewind", c.Rewind}, {"background", c.Background}, {"tasks", c.Tasks}, {"context", c.Context}, {"mcp", c.MCP}, {"title", c.Title},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	return names
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}
