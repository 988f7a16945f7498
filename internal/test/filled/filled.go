// Package filled creates values with a distinct value in every field, for tests that encode, decode
// or convert a type: a forgotten field makes the result differ.
package filled

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Of returns a value of a type with a distinct value in every exported field, also in nested ones. Lists and maps have one element. Fields of a
// type with interfaces, functions or channels fail the test.
func Of[T any](t testing.TB) T {
	t.Helper()
	var v T
	Set(t, reflect.ValueOf(&v).Elem())
	return v
}

// Set sets every exported field of a value to a distinct value.
func Set(t testing.TB, v reflect.Value) {
	t.Helper()
	f := &filler{t: t}
	f.set(v, v.Type().String())
}

// Equal fails the test if two values differ, and names the differing fields of a struct.
func Equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() != reflect.Struct || g.Type() != w.Type() {
		t.Errorf("%s is %+v, want %+v", what, got, want)
		return
	}
	for i := range g.NumField() {
		if f := g.Type().Field(i); f.IsExported() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: %s is %+v, want %+v", what, f.Name, g.Field(i).Interface(), w.Field(i).Interface())
		}
	}
}

// JSON encodes a value of a type with a distinct value in every field, decodes it, and compares.
func JSON[T any](t testing.TB) {
	t.Helper()
	want := Of[T](t)
	data, err := json.Marshal(&want)
	if err != nil {
		t.Errorf("%T: %v", want, err)
		return
	}
	var got T
	if err := json.Unmarshal(data, &got); err != nil {
		t.Errorf("%T: %s: %v", want, data, err)
		return
	}
	Equal(t, fmt.Sprintf("a decoded %T", want), got, want)
}

type filler struct {
	t    testing.TB
	next int64
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

func (f *filler) set(v reflect.Value, name string) {
	f.t.Helper()
	f.next++
	switch {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000+f.next, 0).UTC()))
		return
	case v.Type() == rawType:
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, f.next))
		return
	case v.Kind() == reflect.String && v.Type().Name() == "JSON":
		v.SetString(fmt.Sprintf(`{"n":%d}`, f.next))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", name, f.next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.next)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.next))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.next) + 0.25)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.set(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.set(v.Index(0), name)
	case reflect.Array:
		for i := range v.Len() {
			f.set(v.Index(i), name)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.set(key, name)
		f.set(value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				f.set(v.Field(i), field.Name)
			}
		}
	default:
		f.t.Errorf("%s: there is no value of %v for the test", name, v.Type())
	}
}

// Converted checks a conversion of a value with a distinct value in every field: each field, except
// for the named ones, affects the result, and fields of both types with the same name are equal.
func Converted[T, U any](t testing.TB, from T, convert func(T) U, except ...string) {
	t.Helper()
	to := convert(from)
	src, dst := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range src.NumField() {
		f := src.Type().Field(i)
		if !f.IsExported() || slices.Contains(except, f.Name) {
			continue
		}
		without := reflect.New(src.Type()).Elem()
		without.Set(src)
		without.Field(i).SetZero()
		if reflect.DeepEqual(convert(without.Interface().(T)), to) {
			t.Errorf("%T.%s has no effect on a %T", from, f.Name, to)
		}
		if dst.Kind() != reflect.Struct {
			continue
		}
		same, ok := dst.Type().FieldByName(f.Name)
		if ok && same.IsExported() && same.Type == f.Type && !reflect.DeepEqual(dst.FieldByIndex(same.Index).Interface(), src.Field(i).Interface()) {
			t.Errorf("%T.%s is %v, that of the %T is %v", from, f.Name, src.Field(i).Interface(), to, dst.FieldByIndex(same.Index).Interface())
		}
	}
}
