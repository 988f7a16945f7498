// Package schema generates JSON Schema from Go types: structs become definitions that refer to
// each other by name, sealed interfaces become unions distinguished by a member type. The
// TypeScript types and the OpenAPI document are generated from it.
package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Builder collects types. The zero value is ready to use. It is not safe for concurrent use.
type Builder struct {
	plain  map[reflect.Type]*jsonschema.Schema
	unions map[reflect.Type]map[string]reflect.Type
	names  map[reflect.Type]string       // names of types that differ from Go
	forms  map[reflect.Type]reflect.Type // the structs that describe them
	types  map[reflect.Type][]any        // the values of the member type of structs outside unions
	roots  []reflect.Type
}

// Name sets another name for a type, and a struct that describes its members; form is nil for
// an interface.
func (b *Builder) Name(t reflect.Type, name string, form reflect.Type) {
	if b.names == nil {
		b.names, b.forms = map[reflect.Type]string{}, map[reflect.Type]reflect.Type{}
	}
	b.names[t] = name
	if form != nil {
		b.forms[t] = form
	}
}

func (b *Builder) name(t reflect.Type) string {
	if name, ok := b.names[t]; ok {
		return name
	}
	return t.Name()
}

func (b *Builder) form(t reflect.Type) reflect.Type {
	if f, ok := b.forms[t]; ok {
		return f
	}
	return t
}

func (b *Builder) ref(t reflect.Type) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + b.name(t)}
}

// Type adds the member type with its values to a struct that is in no union.
func (b *Builder) Type(t reflect.Type, values ...string) {
	if b.types == nil {
		b.types = map[reflect.Type][]any{}
	}
	for _, v := range values {
		b.types[t] = append(b.types[t], v)
	}
}

// Plain sets the schema of a type.
func (b *Builder) Plain(t reflect.Type, s *jsonschema.Schema) {
	if b.plain == nil {
		b.plain = map[reflect.Type]*jsonschema.Schema{}
	}
	b.plain[t] = s
}

// Union sets the struct types of an interface, by the value of their member type.
func (b *Builder) Union(iface reflect.Type, variants map[string]reflect.Type) {
	if b.unions == nil {
		b.unions = map[reflect.Type]map[string]reflect.Type{}
	}
	b.unions[iface] = variants
}

// Add adds types to the schema, with all types that they refer to.
func (b *Builder) Add(types ...reflect.Type) { b.roots = append(b.roots, types...) }

// Schema returns one schema with a definition for each type. Its value is one of the given types,
// or any value without types.
func (b *Builder) Schema(title string, of ...reflect.Type) (*jsonschema.Schema, error) {
	structs := map[reflect.Type]bool{}
	for _, t := range append(slices.Clone(b.roots), of...) {
		b.walk(t, structs)
	}
	for _, variants := range b.unions {
		for _, t := range variants {
			b.walk(t, structs)
		}
	}
	refs := maps.Clone(b.plain)
	for t := range structs {
		refs[t] = b.ref(t)
	}
	for t := range b.unions {
		refs[t] = b.ref(t)
	}
	s := &jsonschema.Schema{Schema: "https://json-schema.org/draft/2020-12/schema", Title: title, Defs: map[string]*jsonschema.Schema{}}
	if err := b.define(s.Defs, structs, refs); err != nil {
		return nil, err
	}
	for _, t := range of {
		s.OneOf = append(s.OneOf, b.ref(t))
	}
	if len(s.OneOf) == 1 {
		s.Ref, s.OneOf = s.OneOf[0].Ref, nil
	}
	return s, nil
}

// Ref returns a reference to the definition of a type.
func Ref(t reflect.Type) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
}

// walk finds the structs that a type refers to.
func (b *Builder) walk(t reflect.Type, found map[reflect.Type]bool) {
	if b.plain[t] != nil || b.unions[t] != nil || found[t] {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		b.walk(t.Elem(), found)
	case reflect.Struct:
		found[t] = true
		for _, f := range reflect.VisibleFields(b.form(t)) {
			if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" {
				b.walk(f.Type, found)
			}
		}
	}
}

// define creates the definitions.
func (b *Builder) define(defs map[string]*jsonschema.Schema, structs map[reflect.Type]bool, refs map[reflect.Type]*jsonschema.Schema) error {
	variants := map[reflect.Type][]any{} // the values of the member type
	for iface, types := range b.unions {
		u := &jsonschema.Schema{}
		for _, wire := range slices.Sorted(maps.Keys(types)) {
			t := types[wire]
			if variants[t] == nil {
				u.OneOf = append(u.OneOf, b.ref(t))
			}
			variants[t] = append(variants[t], wire)
		}
		defs[b.name(iface)] = u
	}
	for t := range structs {
		if defs[b.name(t)] != nil {
			return fmt.Errorf("schema: two types are called %s", b.name(t))
		}
		others := maps.Clone(refs)
		delete(others, t)
		s, err := jsonschema.ForType(b.form(t), &jsonschema.ForOptions{TypeSchemas: others})
		if err != nil {
			return fmt.Errorf("schema: %v: %w", t, err)
		}
		open(s)
		if values := variants[t]; values != nil {
			discriminate(s, values)
		} else if values := b.types[t]; values != nil {
			discriminate(s, values)
		}
		defs[b.name(t)] = s
	}
	return nil
}

// open allows unknown members in a schema and removes null, which Go's pointers and slices
// allow but the encoders never write.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "object" && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	} else if len(s.Types) == 0 {
		s.Types = nil
	}
	open(s.Items)
	if s.AdditionalProperties != nil {
		open(s.AdditionalProperties)
	}
	for _, p := range s.Properties {
		open(p)
	}
}

// discriminate adds the member type with its values.
func discriminate(s *jsonschema.Schema, values []any) {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
		s.AdditionalProperties = nil
	}
	p := &jsonschema.Schema{Enum: values}
	if len(values) == 1 {
		p = &jsonschema.Schema{Const: &values[0]}
	}
	s.Properties["type"] = p
	s.PropertyOrder = append([]string{"type"}, s.PropertyOrder...)
	s.Required = append([]string{"type"}, s.Required...)
}
