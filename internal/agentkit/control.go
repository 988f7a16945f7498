package agentkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
)

// Choose returns [agent.ErrClosed] after the end, and [agent.ErrInvalid] for a value that is not in
// the list.
func (s *Session) Choose(what, value string, list []string) error {
	if err := s.Alive(); err != nil {
		return err
	}
	if !slices.Contains(list, value) {
		return fmt.Errorf("%w: %s %q", agent.ErrInvalid, what, value)
	}
	return nil
}

// Entries returns the entries of a catalogue. describe returns the name and the description of an
// element; its JSON is the data.
func Entries[T any](list []T, describe func(*T) (name, description string)) (entries []agent.Entry) {
	for i := range list {
		e := agent.Entry{}
		e.Name, e.Description = describe(&list[i])
		e.Data, _ = json.Marshal(&list[i]) // a struct of texts
		entries = append(entries, e)
	}
	return entries
}

// Server returns the MCP server with a name as a list, and all of them for an empty name.
func Server[T any](all []T, name string, nameOf func(*T) string) ([]T, error) {
	if name == "" {
		return all, nil
	}
	for i := range all {
		if nameOf(&all[i]) == name {
			return all[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, name)
}

// SortTools sorts tools by their servers and names.
func SortTools(list []agent.MCPTool) {
	slices.SortFunc(list, func(a, b agent.MCPTool) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
}
