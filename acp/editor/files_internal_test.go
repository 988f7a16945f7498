package editor

import "testing"

// TestDecide checks that text which may be newer is never overwritten.
func TestDecide(t *testing.T) {
	a, b, c := hashOf("a\n"), hashOf("b\n"), hashOf("c\n")
	for name, test := range map[string]struct {
		agreed       *textHash
		disk, buffer textHash
		touched      bool
		want         step
	}{
		"the same":                           {nil, a, a, true, stepNone},
		"typed before the session":           {nil, a, b, false, stepSave},
		"changed on the disk, first seen":    {nil, a, b, true, stepLeave},
		"typed since":                        {&a, a, b, true, stepSave},
		"a buffer that was not loaded again": {&a, b, a, true, stepLeave},
		"both changed":                       {&a, b, c, true, stepLeave},
		"a new buffer":                       {nil, noText, b, false, stepSave},
		"deleted on the disk":                {&a, noText, a, false, stepLeave},
	} {
		if got := decide(test.agreed, test.disk, test.buffer, test.touched); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if hashOf("\ufeffx\r\ny") != hashOf("x\ny") {
		t.Error("the ends of lines count")
	}
}
