package proc

import "testing"

func TestParseVersion(t *testing.T) {
	tests := map[string]string{
		"2.1.325 (Claude Code)\n": "2.1.325", " 1.0.0": "1.0.0", "10.20.30-beta": "10.20.30",
		"": "", "v2.1.0": "", "2.1": "", "claude 2.1.0": "",
	}
	for in, want := range tests {
		if got, ok := ParseVersion(in); got != want || ok != (want != "") {
			t.Errorf("ParseVersion(%q) = %q, %v", in, got, ok)
		}
	}
}

func TestOlder(t *testing.T) {
	tests := []struct {
		v, min string
		want   bool
	}{
		{"1.9.9", "2.0.0", true}, {"2.0.0", "2.0.0", false}, {"2.0.1", "2.0.0", false}, {"2.9.0", "2.10.0", true},
		{"10.0.0", "9.9.9", false}, {"2.1.9 (Claude Code)", "2.1.10", true}, {"", "2.0.0", false}, {"1.0.0", "x", false},
		{"1.0.0", "1.0.99999999999999999999999", false},
	}
	for _, test := range tests {
		if got := Older(test.v, test.min); got != test.want {
			t.Errorf("Older(%q, %q) = %v", test.v, test.min, got)
		}
	}
}
