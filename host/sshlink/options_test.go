package sshlink

import (
	"errors"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Options{
		"dev@buildbox":                       {Destination: "dev@buildbox", Name: "buildbox"},
		"buildbox,name=fast,dir=src,dir=a b": {Destination: "buildbox", Name: "fast", Args: []string{"--dir=src", "--dir=a b"}},
		"ssh://dev@box.example:2222,max-mode=acceptEdits,slots=3": {Destination: "ssh://dev@box.example:2222", Name: "box.example", Args: []string{"--max-mode=acceptEdits", "--slots=3"}},
		"dev@[::1]": {Destination: "dev@[::1]", Name: "::1"},
	} {
		o, err := Parse(text)
		if err != nil || o.Destination != want.Destination || o.Name != want.Name || !slices.Equal(o.Args, want.Args) {
			t.Errorf("%s is %+v, %v, want %+v", text, o, err, want)
		}
	}
	for _, text := range []string{"", "-oProxyCommand=x", "-v", "dev@-box", "a b", "box;rm", "box,dir", "box,dir=", "box,token=x", "box,trust-git=x", "$(x)", "box\n"} {
		if o, err := Parse(text); !errors.Is(err, ErrOptions) {
			t.Errorf("%q is %+v, %v, want %v", text, o, err, ErrOptions)
		}
	}
}
