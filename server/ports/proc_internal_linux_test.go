package ports

import (
	"net/netip"
	"testing"
)

func TestParseListener(t *testing.T) {
	if !littleEndian {
		t.Skip("the lines are of a little-endian machine")
	}
	for line, want := range map[string]string{
		"   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0": "127.0.0.1:3000 4711",
		"   1: 00000000:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0":                  "0.0.0.0:5173 12",
		"   2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 13 1":                         "[::1]:80 13",
		"   3: 0000000000000000FFFF00000100007F:0051 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 14 1":                         "127.0.0.1:81 14",
		"   4: 0100007F:0BB8 0100007F:1234 01 0:0 0:0 0 0 0 15 1":                                                                         "", // connected
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":                                "",
		"":                                   "",
		"   5: zz:0BB8 0:0 0A 0 0 0 0 0 1 1": "",
	} {
		l, ok := parseListener(line)
		got := ""
		if ok {
			got = addrPort(l) + " " + l.inode
		}
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat(7, []byte("7 (a) Z 1 (b\x1b) S 42 7 7 0"))
	if !ok || p.parent != 42 || p.name != "a) Z 1 (b?" {
		t.Errorf("the process is %+v, %t", p, ok)
	}
	for _, bad := range []string{"", "7", "7 (x", "7 (x) S", "7 (x) Z 1"} {
		if _, ok := parseStat(7, []byte(bad)); ok {
			t.Errorf("%q is a process", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("   0: 0100007F:0BB8 00000000:0000 0A 0:0 0:0 0 0 0 4711 1")
	f.Add("7 (x) S 1 2 3")
	f.Fuzz(func(_ *testing.T, text string) {
		parseListener(text)
		parseStat(1, []byte(text))
	})
}

func addrPort(l listener) string { return netip.AddrPortFrom(l.addr, uint16(l.port)).String() }
