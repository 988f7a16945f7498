package claudepool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/seed7221b0f9/parley/claude"
)

// lateBinding lists the options that can be changed in a running process, and how. The pool's
// key includes only whether they are set. Every other option is fixed when the process starts,
// and the key includes its value.
var lateBinding = map[string]string{
	"Model":          "set_model, when the process is taken",
	"PermissionMode": "set_permission_mode, when the process is taken",
}

// poolKey returns a hash over everything that is fixed when a process starts: each field of the
// options, the inherited environment and the working directory. Processes with the same key are
// interchangeable. Functions and objects that are not plain data count by identity: another
// closure is another key. The hash does not reveal the secrets in it.
func poolKey(o *claude.Options) string {
	f := fingerprint{h: sha256.New()}
	v := reflect.ValueOf(o).Elem()
	for field, value := range v.Fields() {
		f.text(field.Name)
		if _, late := lateBinding[field.Name]; late {
			f.text(fmt.Sprint(value.IsZero()))
			continue
		}
		f.value(value)
	}
	for _, kv := range slices.Sorted(slices.Values(o.Environ())) {
		f.text(kv)
	}
	if dir, err := os.Getwd(); err == nil {
		f.text(dir)
	}
	return hex.EncodeToString(f.h.Sum(nil))
}

// fingerprint hashes a value so that different values give different hashes.
type fingerprint struct{ h hash.Hash }

// text writes a string prefixed by its length, so that adjacent strings cannot run together.
func (f fingerprint) text(s string) { fmt.Fprintf(f.h, "%d:%s", len(s), s) }

func (f fingerprint) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.value(field)
		}
	case reflect.Slice, reflect.Array:
		f.list(v)
	case reflect.Map:
		f.entries(v)
	case reflect.Pointer:
		f.pointer(v)
	case reflect.Interface:
		f.dynamic(v)
	case reflect.Func:
		f.text(fmt.Sprintf("%p", funcIdentity(v)))
	default: // numbers, strings, truth values, channels
		f.text(fmt.Sprintf("%v", v))
	}
}

// dynamic writes the value in an interface. A pointer counts by identity, except for prompts,
// which are data.
func (f fingerprint) dynamic(v reflect.Value) {
	if v.IsNil() {
		f.text("nil")
		return
	}
	inner := v.Elem()
	f.text(inner.Type().String())
	if inner.Kind() == reflect.Pointer && v.Type() != reflect.TypeFor[claude.SystemPrompt]() {
		f.text(fmt.Sprintf("%p", inner.UnsafePointer()))
		return
	}
	f.value(inner)
}

func (f fingerprint) list(v reflect.Value) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		f.text("nil")
		return
	}
	f.text(fmt.Sprint(v.Len()))
	for i := range v.Len() {
		f.value(v.Index(i))
	}
}

func (f fingerprint) entries(v reflect.Value) {
	if v.IsNil() {
		f.text("nil")
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if s, t := fmt.Sprint(a), fmt.Sprint(b); s != t {
			if s < t {
				return -1
			}
			return 1
		}
		return 0
	})
	f.text(fmt.Sprint(len(keys)))
	for _, k := range keys {
		f.value(k)
		f.value(v.MapIndex(k))
	}
}

// pointer writes the value that v points to if it is plain data, else the pointer.
func (f fingerprint) pointer(v reflect.Value) {
	switch {
	case v.IsNil():
		f.text("nil")
	case plain(v.Type().Elem()):
		f.text("to")
		f.value(v.Elem())
	default:
		f.text(fmt.Sprintf("%p", v.UnsafePointer()))
	}
}

// plain reports whether a type is plain data. A struct outside of the SDK, or with unexported
// fields, holds state.
func plain(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return t.PkgPath() == "" && t.Kind() != reflect.Pointer
	}
	ours := reflect.TypeFor[claude.Options]().PkgPath()
	if t.PkgPath() != ours && !strings.HasPrefix(t.PkgPath(), ours+"/") {
		return false
	}
	for field := range t.Fields() {
		if !field.IsExported() {
			return false
		}
	}
	return true
}

// funcIdentity returns the address of a closure, nil for a nil function. reflect returns the
// address of the code, which all closures of one function literal share. A closure that cannot
// be identified gets a unique identity.
func funcIdentity(v reflect.Value) unsafe.Pointer {
	if v.IsNil() {
		return nil
	}
	if !v.CanAddr() {
		if !v.CanInterface() {
			return unsafe.Pointer(new(int64))
		}
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	return *(*unsafe.Pointer)(v.Addr().UnsafePointer())
}
