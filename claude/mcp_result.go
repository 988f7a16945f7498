package claude

import (
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/mcptool"
)

// cleanCallResult returns a tool result in a form that the CLI accepts: content is a
// list, and neither a top-level member nor an element of the list is null. Valid parts
// are unchanged.
func cleanCallResult(result json.RawMessage) json.RawMessage {
	text := string(result)
	d := jsonwire.NewDecoder(text)
	if d.Kind() != '{' {
		return json.RawMessage(`{"content":[]}`)
	}
	members, dirty, content := []string{}, false, false
	for m := d.Members(); m.Next(); {
		value := d.Text()
		if value == "null" {
			dirty = true
			continue
		}
		if m.Key == "content" {
			content = true
			if kept, changed := withoutNulls(value); changed {
				value, dirty = kept, true
			}
		}
		members = append(members, quoteJSON(m.Key)+":"+value)
	}
	if d.Err() != nil || !dirty && content {
		return result
	}
	if !content {
		members = append(members, `"content":[]`)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

func quoteJSON(s string) string {
	text, _ := jsonwire.Marshal(s) // cannot fail for strings
	return string(text)
}

// withoutNulls removes null elements from a list.
func withoutNulls(list string) (kept string, changed bool) {
	d := jsonwire.NewDecoder(list)
	if d.Kind() != '[' {
		return list, false
	}
	var elements []string
	for e := d.Elements(); e.Next(); {
		if value := d.Text(); value == "null" {
			changed = true
		} else {
			elements = append(elements, value)
		}
	}
	if d.Err() != nil || !changed {
		return list, false
	}
	return "[" + strings.Join(elements, ",") + "]", true
}

// cleanToolList returns a list of tools without the members that the MCP SDK adds for a
// newer protocol; alwaysLoad marks each tool to be loaded.
func cleanToolList(result json.RawMessage, alwaysLoad bool) json.RawMessage {
	var list map[string]json.RawMessage
	if json.Unmarshal(result, &list) != nil {
		return result
	}
	if string(list["ttlMs"]) == "0" {
		delete(list, "ttlMs")
	}
	if scope := string(list["cacheScope"]); scope == `""` || list["ttlMs"] == nil {
		delete(list, "cacheScope")
	}
	if alwaysLoad {
		if tools, err := loadAlways(list["tools"]); err == nil {
			list["tools"] = tools
		}
	}
	text, err := jsonwire.Marshal(list)
	if err != nil {
		return result
	}
	return text
}

func loadAlways(text json.RawMessage) (json.RawMessage, error) {
	var tools []map[string]json.RawMessage
	if err := json.Unmarshal(text, &tools); err != nil {
		return nil, err
	}
	for _, tool := range tools {
		meta := map[string]json.RawMessage{}
		if raw := tool["_meta"]; raw != nil {
			if err := json.Unmarshal(raw, &meta); err != nil {
				return nil, err
			}
		}
		meta[mcptool.MetaAlwaysLoad] = json.RawMessage("true")
		encoded, err := jsonwire.Marshal(meta)
		if err != nil {
			return nil, err
		}
		tool["_meta"] = encoded
	}
	return jsonwire.Marshal(tools)
}
