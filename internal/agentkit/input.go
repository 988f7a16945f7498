package agentkit

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
)

// Block is a block of an input, with the members that agents other than Claude use.
type Block struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// CheckInput returns [agent.ErrInvalid] unless an input has either a text or content.
func CheckInput(in agent.Input) error {
	if (in.Text == "") == (len(in.Content) == 0) {
		return fmt.Errorf("%w: an input has either text or content", agent.ErrInvalid)
	}
	return nil
}

// Blocks returns the blocks of an input. A text is one block.
func Blocks(in agent.Input) ([]Block, error) {
	if err := CheckInput(in); err != nil || in.Text != "" {
		return []Block{{Type: "text", Text: in.Text}}, err
	}
	list := make([]Block, len(in.Content))
	for i, raw := range in.Content {
		if err := json.Unmarshal(raw, &list[i]); err != nil {
			return nil, fmt.Errorf("%w: a block: %w", agent.ErrInvalid, err)
		}
	}
	return list, nil
}
