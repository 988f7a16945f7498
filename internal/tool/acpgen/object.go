package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// union describes the variants of a definition.
type union struct {
	tag      string // the member that distinguishes the variants, or ""
	variants []variant
}

type variant struct {
	value  string  // value of the tag; empty for the variant without one
	ref    string  // the definition of the rest of its members
	schema *object // its additional members, or nil
}

// unionOf describes the object variants of a definition, if any.
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
	// If the second variant only has the same member with another type, both are one object.
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

// fields returns the members of a definition; a member that occurs twice with different types is
// any JSON.
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

// plain writes an object, with the members of all variants if no tag distinguishes them.
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
	if len(fields) == 1 && fields[0].json == "_meta" {
		g.printf("type %s struct{ Object }\n", n) // has the methods of Object
		return
	}
	// An object with the same members as another one has the same type, unless a union
	// distinguishes them.
	shape := fmt.Sprint(fields)
	if same := g.shapes[shape]; same != "" && !g.isVariant(name) {
		g.printf("type %s = %s\n", n, same)
		return
	}
	if !g.isVariant(name) {
		g.shapes[shape] = n
	}
	g.printf("type %s struct {\n", n)
	g.structFields(fields)
	g.printf("}\n")
	g.objects = append(g.objects, n)
}

// isVariant reports whether a definition is a variant of a union.
func (g *generator) isVariant(name string) bool {
	for _, of := range g.defs.keys {
		u := g.unionOf(of, g.defs.obj(of))
		if u != nil && slices.ContainsFunc(u.variants, func(v variant) bool { return v.ref == name }) {
			return true
		}
	}
	return false
}

// codecs writes the methods that decode and encode objects.
func (g *generator) codecs() {
	g.printf("\n")
	for _, n := range slices.Sorted(slices.Values(g.objects)) {
		g.printf("func (v *%s) UnmarshalJSON(b []byte) error { return decode(b, v) }\nfunc (v %s) MarshalJSON() ([]byte, error) { return encode(&v) }\n", n, n)
	}
}

// structFields writes the fields of a struct. An object with _meta embeds Object for it.
func (g *generator) structFields(fields []field) {
	last := "Extra map[string]json.RawMessage `json:\"-\"` // unknown members, and all those of an unknown variant"
	for _, f := range fields {
		option := ",omitzero"
		if f.required {
			option = ""
		}
		if f.json == "_meta" {
			last = "Object"
			continue
		}
		g.printf("\t%s %s `json:\"%s%s\"`\n", f.goName, f.goType, f.json, option)
	}
	g.printf("\t%s\n", last)
}

// marks writes the methods that make types variants of unions.
func (g *generator) marks() {
	g.printf("\n")
	for _, name := range slices.Sorted(maps.Keys(g.union)) {
		for _, u := range g.union[name] {
			g.printf("func (*%s) is%s() {}\n", goName(name), goName(u))
		}
	}
}

// tagged writes an object with variants that a tag distinguishes.
func (g *generator) tagged(name string, s *object, u *union) {
	n := goName(name)
	fields := slices.DeleteFunc(g.fields(s, false, nil), func(f field) bool { return f.json == u.tag })
	g.doc(name, s)
	if u.tag == "type" && len(fields) == 0 {
		g.printf("type %s = Union[%sValue]\n\n", n, n)
	} else {
		g.printf("type %s struct {\n\t%s string `json:\"-\" tag:%q` // selects the variant\n", n, goName(u.tag), u.tag)
		g.printf("\tValue %sValue `json:\"-\"` // nil for a variant that is unknown or has no members\n", n)
		g.structFields(fields)
		g.printf("}\n\n")
		g.objects = append(g.objects, n)
	}
	g.printf("// %sValue is the value of a variant of [%s].\ntype %sValue interface{ is%s() }\n\n", n, n, n, n)
	g.printf("// The known variants of [%s]. The set is open.\nconst (\n", n)
	for _, v := range u.variants {
		if v.value != "" {
			g.printf("\t%sIs%s = %q\n", n, goName(v.value), v.value)
		}
	}
	g.printf(")\n")
	fmt.Fprintf(&g.table, "reflect.TypeFor[%s](): {\n", n)
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
		fmt.Fprintf(&g.table, "%q: new(%s),\n", v.value, goName(target))
	}
	g.table.WriteString("},\n")
}

// initialisms are parts of names that are written in capitals.
var initialisms = map[string]string{
	"id": "ID", "url": "URL", "uri": "URI", "mcp": "MCP", "http": "HTTP", "sse": "SSE", "acp": "ACP", "llm": "LLM", "cwd": "CWD",
}

// goName converts a wire name to a Go name: toolCallId is ToolCallID.
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
