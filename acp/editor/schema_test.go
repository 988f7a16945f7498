package editor_test

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is the schema of a version of the protocol.
type schema struct {
	defs     map[string]*jsonschema.Schema
	methods  map[string]map[string]string // definitions by side and method
	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
}

var schemas = map[int]func() (*schema, error){
	1: sync.OnceValues(func() (*schema, error) { return readSchema("../schema/v1.json") }),
	2: sync.OnceValues(func() (*schema, error) { return readSchema("../internal/draft2/schema/v2.json") }),
}

func readSchema(file string) (*schema, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var root struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	s := &schema{defs: map[string]*jsonschema.Schema{}, methods: map[string]map[string]string{}, resolved: map[string]*jsonschema.Resolved{}}
	for name, raw := range root.Defs {
		var note struct {
			Side   string `json:"x-side"`
			Method string `json:"x-method"`
		}
		one := new(jsonschema.Schema)
		if err := errors2(json.Unmarshal(raw, one), json.Unmarshal(raw, &note)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.defs[name] = one
		if note.Method != "" {
			kind := "params"
			if len(name) > 8 && name[len(name)-8:] == "Response" {
				kind = "result"
			}
			if s.methods[kind] == nil {
				s.methods[kind] = map[string]string{}
			}
			s.methods[kind][note.Side+" "+note.Method] = name
		}
	}
	return s, nil
}

func errors2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// validate checks a value against a definition.
func (s *schema) validate(name string, raw json.RawMessage) error {
	s.mu.Lock()
	r := s.resolved[name]
	if r == nil {
		if s.defs[name] == nil {
			s.mu.Unlock()
			return fmt.Errorf("there is no definition %s", name)
		}
		var err error
		root := &jsonschema.Schema{Ref: "#/$defs/" + name, Defs: s.defs}
		if r, err = root.Resolve(nil); err != nil {
			s.mu.Unlock()
			return err
		}
		s.resolved[name] = r
	}
	s.mu.Unlock()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

// checkLines checks every line of an agent against the official schema.
func checkLines(t *testing.T, timeline []recordedLine) {
	t.Helper()
	methods := map[string]string{}
	version := 1
	for _, l := range timeline {
		switch l.Dir {
		case "restart":
			methods = map[string]string{}
		case "client":
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(l.Msg, &m) == nil && m.Method != "" && m.ID != nil {
				methods[string(m.ID)] = m.Method
			}
		case "agent":
			if err := checkLine(l.Msg, methods, &version); err != nil {
				t.Errorf("the schema does not allow %.600s: %v", l.Msg, err)
			}
		}
	}
}

func checkLine(raw json.RawMessage, methods map[string]string, version *int) error {
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, one := range list {
			if err := checkLine(one, methods, version); err != nil {
				return err
			}
		}
		return nil
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	method := methods[string(m.ID)]
	if method == "initialize" && m.Result != nil {
		var r struct {
			ProtocolVersion int `json:"protocolVersion"`
		}
		if err := json.Unmarshal(m.Result, &r); err != nil {
			return err
		}
		*version = r.ProtocolVersion
	}
	s, err := schemas[*version]()
	switch {
	case err != nil:
		return err
	case m.Error != nil:
		return s.validate("Error", m.Error)
	case m.Method == "$/cancel_request":
		return s.validate(s.methods["params"]["protocol $/cancel_request"], m.Params)
	case m.Method != "":
		return s.validate(s.methods["params"]["client "+m.Method], m.Params)
	case method == "" || method[0] == '_':
		return nil
	}
	return s.validate(s.methods["result"]["agent "+method], m.Result)
}
