package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// union is what is known of the variants of a definition.
type union struct {
	tag      string // the member that tells the variants apart; empty if none does
	variants []variant
}

type variant struct {
	value  string  // of the tag; empty for the one without
	ref    string  // the definition of the rest of its members
	schema *object // what it has beside, nil if nothing
}

// unionOf describes the variants of a definition that are objects, nil if there are none.
func (g *generator) unionOf(name string, s *object) *union {
	all := variants(s)
	if len(all) == 0 || isTexts(s) {
		return nil
	}
	u := &union{}
	for _, v := range all {
		if v.str("type") != "object" && len(v.list("allOf")) != 1 {
			return nil
		}
		var one variant
		tag := ""
		if props := v.obj("properties"); props != nil {
			rest := &object{m: map[string]any{}}
			for _, k := range props.keys {
				if c := props.obj(k).str("const"); c != "" {
					tag, one.value = k, c
					continue
				}
				rest.keys, rest.m[k] = append(rest.keys, k), props.m[k]
			}
			if len(rest.keys) > 0 {
				one.schema = &object{keys: []string{"properties", "required"}, m: map[string]any{"properties": rest, "required": v.list("required")}}
			}
		}
		if refs := v.list("allOf"); len(refs) == 1 {
			one.ref = strings.TrimPrefix(refs[0].(*object).str("$ref"), "#/$defs/")
		}
		if v.str("title") == "other" {
			continue
		}
		if tag != "" {
			u.tag = tag
		}
		u.variants = append(u.variants, one)
	}
	// Variants of which the second has no member but the same one with another type are one object.
	if name == "SetSessionConfigOptionRequest" {
		u.tag = ""
	}
	return u
}

// field is a member of a struct.
type field struct {
	json, goName, goType string
	required             bool
}

// fields are the members of a definition; a member that occurs twice with different types
// is any JSON.
func (g *generator) fields(s *object, optional bool, into []field) []field {
	props := s.obj("properties")
	if props == nil {
		return into
	}
	required := s.list("required")
	for _, k := range props.keys {
		p := props.obj(k)
		f := field{json: k, goName: goName(k), required: slices.Contains(required, any(k)) && !optional}
		t, nullable := g.goType(p)
		switch {
		case k == "_meta":
			f.goName, t = "Meta", "map[string]json.RawMessage"
		case t == "json.RawMessage":
		case nullable:
			t = "Optional[" + t + "]"
		case !f.required && !strings.HasPrefix(t, "[]") && !strings.HasPrefix(t, "map["):
			t = "Optional[" + t + "]"
		}
		f.goType = t
		if i := slices.IndexFunc(into, func(o field) bool { return o.json == k }); i >= 0 {
			if into[i].goType != t {
				into[i].goType = "json.RawMessage"
			}
			continue
		}
		into = append(into, f)
	}
	return into
}

// plain writes an object, with the members of all variants where no tag tells them apart.
func (g *generator) plain(name string, s *object, u *union) {
	fields := g.fields(s, false, nil)
	if u != nil {
		for _, v := range u.variants {
			if v.ref != "" {
				fields = g.fields(g.defs.obj(v.ref), true, fields)
			}
			fields = g.fields(v.schema, true, fields)
		}
		if name == "SetSessionConfigOptionRequest" {
			fields = append(fields, field{json: "type", goName: "Type", goType: "Optional[string]"})
		}
	}
	g.doc(name, s)
	n := goName(name)
	g.printf("type %s struct {\n", n)
	g.structFields(fields)
	g.printf("\tExtra map[string]json.RawMessage `json:\"-\"` // members that are not known\n}\n\n")
	g.printf("// UnmarshalJSON reads an object and keeps members that are not known.\nfunc (v *%s) UnmarshalJSON(b []byte) error {\n\treturn decode(b, &v.Extra", n)
	g.memberList(fields)
	g.printf(")\n}\n\n")
	g.printf("// MarshalJSON writes the object with all of its members.\nfunc (v %s) MarshalJSON() ([]byte, error) {\n\ttype plain %s\n\treturn encode(plain(v), nil, v.Extra)\n}\n", n, n)
}

func (g *generator) structFields(fields []field) {
	for _, f := range fields {
		option := ",omitzero"
		if f.required {
			option = ""
		}
		g.printf("\t%s %s `json:\"%s%s\"`\n", f.goName, f.goType, f.json, option)
	}
}

func (g *generator) memberList(fields []field) {
	for _, f := range fields {
		g.printf(", member{%q, &v.%s, %t}", f.json, f.goName, f.required)
	}
}

// marks writes the methods that make types variants of unions.
func (g *generator) marks() {
	for _, name := range slices.Sorted(maps.Keys(g.union)) {
		for _, u := range g.union[name] {
			g.printf("\nfunc (*%s) is%s() {}\n", goName(name), goName(u))
		}
	}
}

// tagged writes an object whose variants a tag tells apart.
func (g *generator) tagged(name string, s *object, u *union) {
	n := goName(name)
	fields := slices.DeleteFunc(g.fields(s, false, nil), func(f field) bool { return f.json == u.tag })
	tag := goName(u.tag)
	g.doc(name, s)
	g.printf("type %s struct {\n\t%s string `json:\"-\"` // %q on the wire: which variant it is\n", n, tag, u.tag)
	g.structFields(fields)
	g.printf("\tValue %sValue `json:\"-\"` // nil for a variant that has no members or is not known\n", n)
	g.printf("\tExtra map[string]json.RawMessage `json:\"-\"` // members that are not known, and all those of a variant that is not\n}\n\n")
	g.printf("// %sValue is what a variant of [%s] has beside.\ntype %sValue interface{ is%s() }\n\n", n, n, n, n)
	g.printf("// The variants of [%s] that are known. The set is open.\nconst (\n", n)
	for _, v := range u.variants {
		if v.value != "" {
			g.printf("\t%sIs%s = %q\n", n, goName(v.value), v.value)
		}
	}
	g.printf(")\n\nfunc new%sValue(kind string) any {\n\tswitch kind {\n", n)
	written := map[string]bool{}
	for _, v := range u.variants {
		target := v.ref
		if v.schema != nil {
			target = name + goName(cmp.Or(v.value, "default"))
			g.extra = append(g.extra, definition{target, v.schema})
		}
		if target == "" {
			continue
		}
		if v.schema == nil {
			g.want(target)
		}
		if !written[target] {
			written[target] = true
			g.union[target] = append(g.union[target], name)
		}
		g.printf("\tcase %q:\n\t\treturn new(%s)\n", v.value, goName(target))
	}
	g.printf("\t}\n\treturn nil\n}\n\n")
	g.printf("// UnmarshalJSON reads an object and keeps members and variants that are not known.\nfunc (v *%s) UnmarshalJSON(b []byte) error {\n\tvalue, err := decodeUnion(b, %q, &v.%s, new%sValue, &v.Extra", n, u.tag, tag, n)
	g.memberList(fields)
	g.printf(")\n\tv.Value, _ = value.(%sValue)\n\treturn err\n}\n\n", n)
	g.printf("// MarshalJSON writes the object with all of its members.\nfunc (v %s) MarshalJSON() ([]byte, error) {\n\ttype plain %s\n\treturn encodeUnion(%q, v.%s, plain(v), v.Value, v.Extra)\n}\n", n, n, u.tag, tag)
}

// initialisms are parts of names that are written in capitals.
var initialisms = map[string]string{
	"id": "ID", "url": "URL", "uri": "URI", "mcp": "MCP", "http": "HTTP", "sse": "SSE", "acp": "ACP", "llm": "LLM", "cwd": "CWD",
}

// goName makes a name of Go of one of the wire: toolCallId is ToolCallID.
func goName(name string) string {
	var b strings.Builder
	for _, word := range splitWords(name) {
		if up := initialisms[strings.ToLower(word)]; up != "" {
			b.WriteString(up)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func splitWords(name string) []string {
	var words []string
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, name[start:end])
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '/' || c == '-' || c == '$' || c == ' ':
			flush(i)
			start = i + 1
		case 'A' <= c && c <= 'Z' && i > start && !('A' <= name[i-1] && name[i-1] <= 'Z'):
			flush(i)
			start = i
		}
	}
	flush(len(name))
	return words
}
