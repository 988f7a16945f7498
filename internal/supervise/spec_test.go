package supervise

import (
	"bytes"
	"reflect"
	"testing"
)

func TestSpec(t *testing.T) {
	for _, want := range []Spec{
		{Path: "/bin/sh", Dir: "/tmp", Group: "/sys/fs/cgroup/x", Args: []string{"sh", "-c", "echo \n 3:abc"}, Env: []string{"A=1", "B="}, IDs: []uint32{1, 2, 3}},
		{Path: "x", Args: []string{""}},
	} {
		size, text, _ := bytes.Cut(want.Encode(), []byte("\n"))
		got, err := decode(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		for i := range text {
			if got, err := decode(text[:i]); err == nil {
				t.Errorf("%s: %d of %s bytes are %+v", text, i, size, got)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	_, text, _ := bytes.Cut(Spec{Path: "/bin/sh", Args: []string{"sh"}, IDs: []uint32{1, 2}}.Encode(), []byte("\n"))
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := decode(text); err == nil && len(s.IDs) == 1 {
			t.Errorf("%+v; want not (err == nil && len(s.IDs) == 1)", s)
		}
	})
}
