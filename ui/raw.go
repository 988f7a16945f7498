package ui

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// checked returns a JSON text that is safe to put into other JSON. A text that a
// message carries has not been looked into: one that is broken becomes a string.
func checked(j claude.JSON) claude.JSON {
	if j == "" {
		return ""
	}
	if !utf8.ValidString(string(j)) {
		j = claude.JSON([]rune(string(j))) // U+FFFD for each bad byte, as decoding gives
	}
	if jsonwire.Valid(string(j)) {
		return j
	}
	return quoted(string(j))
}

// present is checked, with null taken for absent.
func present(j claude.JSON) claude.JSON {
	if j == "null" {
		return ""
	}
	return checked(j)
}

// rawOf is the text that a value was decoded from.
func rawOf(v interface{ Raw() json.RawMessage }) claude.JSON {
	return checked(claude.JSON(v.Raw()))
}

// quoted is a JSON string.
func quoted(s string) claude.JSON { return claude.JSON(jsonwire.AppendString(nil, s)) }

// encoded is v as JSON, without the escapes for HTML; absent where v has none.
func encoded(v any) claude.JSON {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return claude.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// member returns a member of a JSON object as it stands, and whether it is there.
func member(object claude.JSON, key string) (claude.JSON, bool) {
	d := jsonwire.NewDecoder(string(object))
	if d.Kind() != '{' {
		return "", false
	}
	found, ok := "", false
	for m := d.Members(); m.Next(); {
		if m.Key == key {
			found, ok = d.Text(), true // the last one counts, as everywhere
			continue
		}
		d.Skip()
	}
	return claude.JSON(found), ok && d.Err() == nil
}

// retyped is a JSON object with this type. An object that names its type twice is of
// the first to package claude and of the last to everybody else.
func retyped(object claude.JSON, typ string) claude.JSON {
	j, ok := member(object, "type")
	if !ok || text(j) == typ {
		return object
	}
	var members map[string]json.RawMessage
	if object.Decode(&members) != nil {
		return object
	}
	members["type"] = json.RawMessage(quoted(typ))
	return encoded(members)
}

// elements are the elements of a JSON array as they stand.
func elements(array claude.JSON) []claude.JSON {
	d := jsonwire.NewDecoder(string(array))
	if d.Kind() != '[' {
		return nil
	}
	var all []claude.JSON
	for e := d.Elements(); e.Next(); {
		all = append(all, claude.JSON(d.Text()))
	}
	return all
}

// text is a JSON string decoded, "" for anything else.
func text(j claude.JSON) string {
	s, _ := jsonwire.NewDecoder(string(j)).String()
	return s
}
