package jsonwire

import (
	"cmp"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
)

// decodeFunc decodes the next value into v, which must be settable.
type decodeFunc func(d *Decoder, v reflect.Value)

var (
	plans      sync.Map // reflect.Type → decodeFunc
	registered sync.Map // reflect.Type → decodeFunc, from Register and RegisterText
)

// Register makes fn decode all values of type T. fn gets the decoder positioned before the
// value and must move past it. Call it before the first decoding, in the initializer of a
// package-level variable: it returns true for that purpose.
func Register[T any](fn func(d *Decoder) T) bool {
	registered.Store(reflect.TypeFor[T](), decodeFunc(func(d *Decoder, v reflect.Value) {
		*v.Addr().Interface().(*T) = fn(d)
	}))
	return true
}

// RegisterText makes values of the string type T hold the text of their JSON, including
// null. Use it like Register.
func RegisterText[T ~string]() bool {
	registered.Store(reflect.TypeFor[T](), decodeFunc(func(d *Decoder, v reflect.Value) {
		v.SetString(d.Text())
	}))
	return true
}

func planFor(t reflect.Type) decodeFunc {
	if p, ok := plans.Load(t); ok {
		return p.(decodeFunc)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t))
	return p.(decodeFunc)
}

func newPlan(t reflect.Type) decodeFunc {
	if p, ok := registered.Load(t); ok {
		return p.(decodeFunc)
	}
	switch t.Kind() {
	case reflect.String:
		return decodeString
	case reflect.Int, reflect.Int64, reflect.Int32:
		return decodeInt
	case reflect.Float64:
		return decodeFloat
	case reflect.Bool:
		return decodeBool
	case reflect.Pointer:
		return pointerPlan(t)
	case reflect.Slice:
		return slicePlan(t)
	case reflect.Map:
		return mapPlan(t)
	case reflect.Struct:
		return structPlan(t)
	}
	panic("jsonwire: no way to decode a " + t.String())
}

func decodeString(d *Decoder, v reflect.Value) {
	if s, ok := d.String(); ok {
		v.SetString(s)
	}
}

func decodeInt(d *Decoder, v reflect.Value) {
	if n, ok := d.Int(); ok && !v.OverflowInt(n) {
		v.SetInt(n)
	}
}

func decodeFloat(d *Decoder, v reflect.Value) {
	if f, ok := d.Float(); ok {
		v.SetFloat(f)
	}
}

func decodeBool(d *Decoder, v reflect.Value) {
	if b, ok := d.Bool(); ok {
		v.SetBool(b)
	}
}

// pointerPlan keeps nil for null. The element's plan is looked up at use, since
// a type may contain itself.
func pointerPlan(t reflect.Type) decodeFunc {
	return func(d *Decoder, v reflect.Value) {
		if d.Kind() == 'n' {
			d.Skip()
			return
		}
		p := reflect.New(t.Elem())
		planFor(t.Elem())(d, p.Elem())
		v.Set(p)
	}
}

func slicePlan(t reflect.Type) decodeFunc {
	if t == reflect.TypeFor[[]string]() {
		return decodeStrings
	}
	return func(d *Decoder, v reflect.Value) {
		if d.Kind() != '[' {
			d.Skip()
			return
		}
		elem := planFor(t.Elem())
		n := 0
		v.Set(reflect.MakeSlice(t, 0, 0))
		for e := d.Elements(); e.Next(); n++ {
			v.Grow(1)
			v.SetLen(n + 1)
			v.Index(n).SetZero()
			elem(d, v.Index(n))
		}
	}
}

// decodeStrings is the plan of the most common slice.
func decodeStrings(d *Decoder, v reflect.Value) {
	if d.Kind() != '[' {
		d.Skip()
		return
	}
	list := d.plainStrings()
	for e := (Elements{d: d, begun: len(list) > 0}); e.Next(); {
		s, _ := d.String()
		list = append(list, s)
	}
	*v.Addr().Interface().(*[]string) = list
}

// plainStrings enters an array and returns its leading strings that have no escapes and are
// separated only by commas. It stops before the next element.
func (d *Decoder) plainStrings() []string {
	d.enter()
	s, i := d.s, d.i
	body, _, _ := strings.Cut(s[i:], "]")
	list := make([]string, 0, strings.Count(body[:min(len(body), 4<<10)], ",")+1)
	for i < len(s) && s[i] == '"' {
		n, ascii := untilSpecial(s[i+1:])
		end := i + 1 + n
		if !ascii || end >= len(s) || s[end] != '"' {
			break
		}
		list = append(list, s[i+1:end])
		d.i, i = end+1, end+1
		if i >= len(s) || s[i] != ',' {
			break
		}
		i++
	}
	return list
}

func mapPlan(t reflect.Type) decodeFunc {
	if t.Key().Kind() != reflect.String {
		panic("jsonwire: no way to decode a " + t.String())
	}
	return func(d *Decoder, v reflect.Value) {
		if d.Kind() != '{' {
			d.Skip()
			return
		}
		elem := planFor(t.Elem())
		v.Set(reflect.MakeMap(t))
		for m := d.Members(); m.Next(); {
			e := reflect.New(t.Elem()).Elem()
			elem(d, e)
			v.SetMapIndex(reflect.ValueOf(m.Key).Convert(t.Key()), e)
		}
	}
}

// field is one member of a struct: its index and its decoder.
type field struct {
	name  string
	index []int // through embedded structs
	typ   reflect.Type
	plan  atomic.Pointer[decodeFunc] // of typ; looked up at first use, since a type may contain itself

	// next is the field that followed this one the last time. Lines of one type have a fixed
	// order of members, so the guess saves a lookup.
	next atomic.Pointer[field]
}

func (f *field) decode(d *Decoder, v reflect.Value) {
	for _, i := range f.index {
		v = v.Field(i)
	}
	plan := f.plan.Load()
	if plan == nil {
		p := planFor(f.typ)
		plan = &p
		f.plan.Store(plan)
	}
	(*plan)(d, v)
}

func structPlan(t reflect.Type) decodeFunc {
	fields := map[string]*field{}
	addFields(fields, t, nil)
	first := &field{} // before all of them
	return func(d *Decoder, v reflect.Value) {
		if d.Kind() != '{' {
			d.Skip()
			return
		}
		last := first
		m := d.Members()
		for {
			f := last.next.Load()
			if f == nil || !m.nextIs(f.name) {
				if !m.Next() {
					return
				}
				var ok bool
				if f, ok = fields[m.Key]; !ok {
					d.Skip()
					continue
				}
				last.next.Store(f)
			}
			last = f
			f.decode(d, v)
		}
	}
}

func addFields(fields map[string]*field, t reflect.Type, at []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		index := append(at[:len(at):len(at)], i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct && sf.Tag.Get("json") == "" {
			addFields(fields, sf.Type, index)
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if !sf.IsExported() || name == "-" {
			continue
		}
		name = cmp.Or(name, sf.Name)
		if old, ok := fields[name]; ok && len(old.index) <= len(index) {
			continue // the shallower field wins
		}
		fields[name] = &field{name: name, index: index, typ: sf.Type}
	}
}
