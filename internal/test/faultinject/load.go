package faultinject

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// members are the names of an entry's fields.
var members = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("parentUuid logicalParentUuid isSidechain promptId type subtype content compactMetadata message attachment " +
		"apiBlockIndex requestId isCompactSummary uuid timestamp toolUseResult sourceToolAssistantUUID userType entrypoint cwd sessionId version gitBranch") {
		names[name] = true
	}
	return names
}()

// Load returns a session of another writer, for injection. seed determines the random
// choices.
func Load(seed uint64, id, cwd string, file []byte) (*Session, error) {
	s := &Session{ID: id, CWD: cwd, rng: rand.New(rand.NewPCG(seed, 0x10ad))}
	for text := range strings.Lines(string(file)) {
		text = strings.TrimSuffix(text, "\n")
		l, err := loadLine(text)
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, l)
	}
	return s, nil
}

func loadLine(text string) (*line, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, err
	}
	if all["uuid"] == nil || all["parentUuid"] == nil {
		return &line{raw: text}, nil
	}
	l := &line{entry: &entry{}, rest: map[string]json.RawMessage{}}
	if err := json.Unmarshal([]byte(text), l.entry); err != nil {
		return nil, err
	}
	if list, ok := l.Message["content"].([]any); ok {
		blocks := []map[string]any{}
		for _, b := range list {
			blocks = append(blocks, b.(map[string]any))
		}
		l.Message["content"] = blocks
	}
	for name, value := range all {
		if !members[name] {
			l.rest[name] = value
		}
	}
	// Entries inserted by the CLI are not subject to faults.
	l.fixed = l.Type == "attachment" || l.Type == "system"
	return l, nil
}
