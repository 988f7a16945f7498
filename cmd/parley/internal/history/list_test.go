package history

import (
	"errors"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"testing"
	"time"
)

// The days of --since and --until are included.
func TestFinderFilter(t *testing.T) {
	f, err := (&finderFlags{since: "2026-01-31", until: "2026-01-31"}).filter()
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local)
	if !f.Since.Equal(day) || !f.Until.Equal(day.AddDate(0, 0, 1)) {
		t.Errorf("from %v to %v", f.Since, f.Until)
	}
	before := time.Now()
	if f, err = (&finderFlags{since: "2w", until: "90m"}).filter(); err != nil {
		t.Fatal(err)
	}
	for ago, got := range map[time.Duration]time.Time{14 * 24 * time.Hour: f.Since, 90 * time.Minute: f.Until} {
		if early, late := before.Add(-ago), time.Now().Add(-ago); got.Before(early) || got.After(late) {
			t.Errorf("%v ago is %v, want %v to %v", ago, got, early, late)
		}
	}
	for _, bad := range []string{"-7d", "d", "7", "7y", "2026-02-30", "yesterday", "99999w"} {
		_, since := (&finderFlags{since: bad}).filter()
		_, until := (&finderFlags{until: bad}).filter()
		for _, err := range []error{since, until} {
			if _, usage := errors.AsType[*term.UsageError](err); !usage {
				t.Errorf("%q: %v; want usage", bad, err)
			}
		}
	}
}

func TestHome(t *testing.T) {
	t.Setenv("HOME", "/srv/home")
	t.Setenv("USERPROFILE", "/srv/home")
	for path, want := range map[string]string{
		"/srv/home": "~", "/srv/home/x": "~/x", `/srv/home\x`: `~\x`, "/srv/home2": "/srv/home2", "/srv": "/srv", "": "",
	} {
		if got := home(path); got != want {
			t.Errorf("home(%q) = %q, want %q", path, got, want)
		}
	}
}
