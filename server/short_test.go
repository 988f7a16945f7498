package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// leaf is a string, or a list of strings, in the parameters of a method.
type leaf struct {
	path [][]int // path of field indexes; a new element begins inside the element type of a list
	name string  // Type.Field
	list bool
}

// leaves returns the strings and lists of strings of a type.
func leaves(ty reflect.Type, path [][]int, name string) (all []leaf) {
	switch ty.Kind() {
	case reflect.Pointer:
		return leaves(ty.Elem(), path, name)
	case reflect.Struct:
		for i := range ty.NumField() {
			if f := ty.Field(i); f.IsExported() {
				next := slices.Clone(path)
				next[len(next)-1] = append(slices.Clone(next[len(next)-1]), i)
				all = append(all, leaves(f.Type, next, ty.Name()+"."+f.Name)...)
			}
		}
	case reflect.Slice:
		if ty.Elem().Kind() == reflect.Struct {
			return leaves(ty.Elem(), append(slices.Clone(path), nil), name)
		}
		if ty.Elem().Kind() == reflect.String && ty.Elem() != reflect.TypeFor[event.JSON]() {
			return []leaf{{path, name, true}}
		}
	case reflect.String:
		if ty != reflect.TypeFor[event.JSON]() {
			return []leaf{{path, name, false}}
		}
	}
	return all
}

// set sets the leaf of a value.
func (l leaf) set(v reflect.Value, to ...string) {
	for step, fields := range l.path {
		if step > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			v = v.Index(0)
		}
		for _, i := range fields {
			if v.Kind() == reflect.Pointer {
				v.Set(reflect.New(v.Type().Elem()))
				v = v.Elem()
			}
			v = v.Field(i)
		}
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if l.list {
		v.Set(reflect.MakeSlice(v.Type(), len(to), len(to)))
		for i, s := range to {
			v.Index(i).SetString(s)
		}
		return
	}
	v.SetString(to[0])
}

// TestShort calls every method with each of its strings and lists too long: the call is refused
// before the method runs. Strings at the limit, and parameters that may be long, are not refused
// for their length.
func TestShort(t *testing.T) {
	h := newHarness(t)
	c := &caller{principal: &principal{role: roleAdmin, account: ownerAccount}}
	used := map[string]bool{}
	for _, m := range methods {
		for _, l := range leaves(m.params, [][]int{nil}, "") {
			used[l.name] = true
			fits := strings.Repeat("x", maxShort)
			many := slices.Repeat([]string{fits}, maxShortList/maxShort)
			check := func(what string, refused bool, values ...string) {
				v := reflect.New(m.params)
				l.set(v.Elem(), values...)
				if err := checkShort(v.Elem()); (err != nil) != refused {
					t.Errorf("%s: %s %s: %v, want an error: %v", m.name, l.name, what, err, refused)
				}
				if !refused {
					return
				}
				params, err := json.Marshal(v.Interface())
				if err != nil {
					t.Fatal(err)
				}
				_, err = m.call(h.server, t.Context(), c, params)
				if f := session.FailureOf(err); err == nil || f.Reason != api.InvalidParams || !strings.Contains(f.Message, "and at most") {
					t.Errorf("%s: %s %s: the call ends with %v", m.name, l.name, what, err)
				}
			}
			check("at the bound", false, fits)
			check("beyond the bound", !long[l.name] || l.list, fits+"x")
			if l.list {
				check("with many elements", !long[l.name], many...)
			}
		}
	}
	for name := range long {
		if !used[name] {
			t.Errorf("%s may be long and is not a parameter of a method", name)
		}
	}
}

// TestShort_maps checks the bounds of the names and values of maps in parameters.
func TestShort_maps(t *testing.T) {
	many := map[string]string{}
	for i := range maxShortList / 1024 {
		many[strings.Repeat("n", i+1)] = strings.Repeat("v", 1024)
	}
	for name, tt := range map[string]struct {
		m       map[string]string
		refused bool
	}{
		"short": {map[string]string{"n": "v"}, false}, "at the bound": {map[string]string{strings.Repeat("n", maxShort): strings.Repeat("v", maxShort)}, false},
		"a long name": {map[string]string{strings.Repeat("n", maxShort+1): "v"}, true}, "a long value": {map[string]string{"n": strings.Repeat("v", maxShort+1)}, true},
		"many values": {many, true},
	} {
		for _, params := range []any{
			api.ConnectParams{Metadata: tt.m}, api.ForkParams{Metadata: tt.m},
			api.MCPConfigureParams{Server: api.MCPConfig{Env: tt.m}}, api.MCPConfigureParams{Server: api.MCPConfig{Headers: tt.m}},
		} {
			if err := checkShort(reflect.ValueOf(params)); (err != nil) != tt.refused {
				t.Errorf("%s in %T: %v, want an error: %v", name, params, err, tt.refused)
			}
		}
	}
}
