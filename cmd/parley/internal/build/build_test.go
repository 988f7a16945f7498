package build

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
)

func TestVersion(t *testing.T) {
	platform := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	recorded := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}
	for _, tt := range []struct {
		version, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"", "", nil, claude.Version + " (" + platform + ")"},
		{"", "", &debug.BuildInfo{}, claude.Version + " (" + platform + ")"},
		{"", "", recorded, claude.Version + " (0123456789ab, modified, " + platform + ")"},
		{"1.2.3", "fedcba9876543210", recorded, "1.2.3 (fedcba987654, " + platform + ")"},
		{"1.2.3", "fed", nil, "1.2.3 (fed, " + platform + ")"},
	} {
		b := stamped(tt.version, tt.commit, tt.info)
		if got := b.String(); got != tt.want {
			t.Errorf("%q and %q with %v: %q, want %q", tt.version, tt.commit, tt.info, got, tt.want)
		}
		var text, object strings.Builder
		var back Info
		if err := b.Print(&text, false); err != nil || text.String() != "parley "+tt.want+"\n" {
			t.Errorf("printed %q, %v", text.String(), err)
		}
		if err := b.Print(&object, true); err != nil || json.Unmarshal([]byte(object.String()), &back) != nil || back != b {
			t.Errorf("printed %q, %v", object.String(), err)
		}
	}
}
