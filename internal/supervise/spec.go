package supervise

import (
	"strconv"
	"syscall"
)

// Spec describes the process that a supervisor starts, like exec: Args begin with the name of the program.
type Spec struct {
	Path, Dir string
	Args, Env []string
	// Group is the folder of the supervisor's control group, or "". The supervisor removes the group when it is
	// otherwise empty, because the program that created it may have been killed.
	Group string
	// IDs are the user, the group and the further groups to run as; empty means those of the supervisor.
	IDs []uint32
}

// Encode returns the text of a Spec: its size and a line feed, then each part with its length before it.
func (s Spec) Encode() []byte {
	var b []byte
	text := func(v string) { b = append(append(strconv.AppendInt(b, int64(len(v)), 10), ':'), v...) }
	list := func(vs []string) {
		text(strconv.Itoa(len(vs)))
		for _, v := range vs {
			text(v)
		}
	}
	text(s.Path)
	text(s.Dir)
	text(s.Group)
	list(s.Args)
	list(s.Env)
	ids := make([]string, 0, len(s.IDs))
	for _, id := range s.IDs {
		ids = append(ids, strconv.FormatUint(uint64(id), 10))
	}
	list(ids)
	return append(append(strconv.AppendInt(nil, int64(len(b)), 10), '\n'), b...)
}

// decoder takes the parts of an encoded Spec from its text.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) text() string {
	for i, c := range d.b {
		if c != ':' {
			continue
		}
		n, err := strconv.Atoi(string(d.b[:i]))
		if err != nil || n < 0 || n > len(d.b)-i-1 {
			break
		}
		v := string(d.b[i+1 : i+1+n])
		d.b = d.b[i+1+n:]
		return v
	}
	d.failed = true
	return ""
}

func (d *decoder) list() (vs []string) {
	n, err := strconv.Atoi(d.text())
	d.failed = d.failed || err != nil
	for range n {
		if d.failed {
			return nil
		}
		vs = append(vs, d.text())
	}
	return vs
}

// decode decodes the output of Encode without its size.
func decode(b []byte) (Spec, error) {
	d := decoder{b: b}
	s := Spec{Path: d.text(), Dir: d.text(), Group: d.text(), Args: d.list(), Env: d.list()}
	for _, id := range d.list() {
		n, err := strconv.ParseUint(id, 10, 32)
		d.failed = d.failed || err != nil
		s.IDs = append(s.IDs, uint32(n))
	}
	if d.failed || len(d.b) > 0 || len(s.IDs) == 1 {
		return Spec{}, syscall.EINVAL
	}
	return s, nil
}
