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

// lateBinding are the options that a process which runs already can be brought
// to, and how. Only whether they are set at all counts in a pool's key. Every
// other option is bound when the process starts, and its value is in the key.
var lateBinding = map[string]string{
	"Model":          "set_model, when the process is taken",
	"PermissionMode": "set_permission_mode, when the process is taken",
}

// poolKey is what a process started with these options is bound to: each field
// of the options, the environment that it inherits and the directory that it
// starts in. Two that have the same key can stand in for each other. Functions and objects that
// are not plain data count by their identity: another closure is another key. The key is a hash
// and reveals nothing of the secrets in it.
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

// text writes a string together with its length, so that none runs into the next.
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

// dynamic writes what is in an interface. A pointer refers to an object of the caller, except
// for prompts, which are data.
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

// pointer writes what is pointed to where that is plain data, else the pointer.
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

// plain reports whether a type is data alone. A struct that does not belong to the SDK, or
// has fields that no other package can set, holds state.
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

// funcIdentity is the address of a closure, nil for a nil function. reflect
// itself gives that of the code, which all closures of one place share. One that cannot be
// identified gets an identity that no other has.
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
