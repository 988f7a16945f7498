package contextref

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
)

// References is the member contexts that a front end stores with a message: a JSON array of
// objects, each with its kind as the member type. Decoding keeps unknown kinds and members,
// encoding writes them again.
type References []Reference

// makers create an empty reference of each kind.
var makers = map[Kind]func() Reference{
	KindFile:      func() Reference { return &File{} },
	KindWeb:       func() Reference { return &Web{} },
	KindFolder:    func() Reference { return &Folder{} },
	KindSymbol:    func() Reference { return &Symbol{} },
	KindTerminal:  func() Reference { return &Terminal{} },
	KindProblems:  func() Reference { return &Problems{} },
	KindGit:       func() Reference { return &Git{} },
	KindSelection: func() Reference { return &Selection{} },
	KindWorkspace: func() Reference { return &Workspace{} },
	KindImage:     func() Reference { return &Image{} },
}

// MarshalJSON writes the references as an array of objects in order, each with its type as the
// first member.
func (refs References) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, r := range refs {
		if i > 0 {
			out = append(out, ',')
		}
		object, err := marshalReference(r)
		if err != nil {
			return nil, err
		}
		out = append(out, object...)
	}
	return append(out, ']'), nil
}

func marshalReference(r Reference) ([]byte, error) {
	kind, err := json.Marshal(r.Kind())
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":`), kind...)
	if u, ok := r.(*Unknown); !ok {
		fields, err := encode(r)
		if err != nil {
			return nil, err
		}
		out = appendMembers(out, fields)
	} else if u.DisplayType != "" || u.Line != "" {
		fields, err := encode(struct {
			Line        string `json:"line,omitempty"`
			DisplayType string `json:"displayType,omitempty"`
		}{u.Line, u.DisplayType})
		if err != nil {
			return nil, err
		}
		out = appendMembers(out, fields)
	}
	if extra := r.beside().Extra; len(extra) > 0 {
		fields, err := encode(extra)
		if err != nil {
			return nil, err
		}
		out = appendMembers(out, fields)
	}
	return append(out, '}'), nil
}

// encode is json.Marshal without escaping <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// appendMembers appends the members of an object to an unfinished one.
func appendMembers(out, object []byte) []byte {
	if inside := object[1 : len(object)-1]; len(inside) > 0 {
		out = append(append(out, ','), inside...)
	}
	return out
}

// UnmarshalJSON reads an array of objects. An element that is not an object is an error; a member
// with an unexpected type is kept in Extra.
func (refs *References) UnmarshalJSON(data []byte) error {
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal(data, &objects); err != nil {
		return err
	}
	*refs = make(References, 0, len(objects))
	for _, members := range objects {
		if members == nil {
			return errors.New("contextref: an element of contexts is null")
		}
		*refs = append(*refs, unmarshalReference(members))
	}
	return nil
}

func unmarshalReference(members map[string]json.RawMessage) Reference {
	var kind Kind
	rest := maps.Clone(members)
	if json.Unmarshal(members["type"], &kind) == nil {
		delete(rest, "type")
	}
	maker := makers[kind]
	if maker == nil {
		u := &Unknown{Type: kind}
		take(rest, "line", &u.Line)
		take(rest, "displayType", &u.DisplayType)
		u.Extra = rest
		return u
	}
	r := maker()
	for name, value := range members {
		if takesMember(r, name, value) {
			delete(rest, name)
		}
	}
	if len(rest) > 0 {
		r.beside().Extra = rest
	}
	return r
}

func take(members map[string]json.RawMessage, name string, to *string) {
	if json.Unmarshal(members[name], to) == nil && *to != "" {
		delete(members, name)
	}
}

// takesMember decodes one member into its field and reports whether r has a field that encodes to
// the same value.
func takesMember(r Reference, name string, value json.RawMessage) bool {
	fresh := makers[r.Kind()]()
	object, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil || json.Unmarshal(object, fresh) != nil {
		return false
	}
	// encoding/json matches names without case; only the exact name counts.
	written, err := json.Marshal(fresh)
	if err != nil {
		return false
	}
	var back map[string]json.RawMessage
	if json.Unmarshal(written, &back) != nil || !sameJSON(back[name], value) {
		return false
	}
	return json.Unmarshal(object, r) == nil
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	if bytes.Equal(x.Bytes(), y.Bytes()) {
		return true
	}
	var s, t string // the same string may be escaped in two ways
	return json.Unmarshal(a, &s) == nil && json.Unmarshal(b, &t) == nil && s == t
}

// Join merges the references that [Parse] found in a message with the kept ones from its contexts.
// Each found one is replaced by the first kept one with the same line, which also has the fields
// that are not on the line; kept ones without a line follow at the end. Both may be nil.
func Join(found, kept []Reference) []Reference {
	used := make([]bool, len(kept))
	byLine := map[string][]int{} // indexes of unused kept references, in order
	for i, k := range kept {
		if line, ok := lineOf(k); ok {
			byLine[line] = append(byLine[line], i)
		}
	}
	var out []Reference
	for _, f := range found {
		r := f
		if line, ok := lineOf(f); ok && len(byLine[line]) > 0 {
			i := byLine[line][0]
			byLine[line] = byLine[line][1:]
			used[i], r = true, kept[i]
		}
		out = append(out, r)
	}
	for i, k := range kept {
		if !used[i] {
			out = append(out, k)
		}
	}
	return out
}

// lineOf returns the canonical line of a reference, or false if it is invalid.
func lineOf(r Reference) (string, bool) {
	line, err := r.line(labelsOf(Chinese))
	return canonical(line), err == nil
}
