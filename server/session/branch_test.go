package session

import "testing"

func TestCompareURL(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/o/r.git":           "https://github.com/o/r/compare/main...wt/x?expand=1",
		"https://u:secret@github.com/o/r":      "https://github.com/o/r/compare/main...wt/x?expand=1",
		"git@github.com:o/r.git":               "https://github.com/o/r/compare/main...wt/x?expand=1",
		"ssh://git@git.example.com:2222/o/r":   "https://git.example.com/o/r/compare/main...wt/x?expand=1",
		"https://git.example.com:8443/o/r.git": "https://git.example.com:8443/o/r/compare/main...wt/x?expand=1",
		"git@gitlab.example.com:a/b/c.git":     "https://gitlab.example.com/a/b/c/-/merge_requests/new?merge_request%5Bsource_branch%5D=wt%2Fx&merge_request%5Btarget_branch%5D=main",
		"https://bitbucket.org/o/r.git":        "https://bitbucket.org/o/r/pull-requests/new?dest=main&source=wt%2Fx",
		"/srv/git/r.git":                       "",
		"../r.git":                             "",
		"file:///srv/git/o/r.git":              "",
		"C:/src/r":                             "",
		"javascript://github.com/o/r":          "",
		"":                                     "",
	} {
		if got := compareURL(remote, "main", "wt/x"); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
	if got := withoutSecret("https://u:secret@github.com/o/r"); got != "https://github.com/o/r" {
		t.Errorf("with the secret: %s", got)
	}
}

func TestWaits(t *testing.T) {
	at := func(s string) string { return "2026-01-01T00:00:" + s + "Z" }
	var w waits
	w.note(false, at("01"))
	w.note(true, at("02"))
	w.note(true, at("03")) // a second request
	w.note(false, at("05.5"))
	w.note(true, at("10"))
	if got := w.until(at("12")); got != 5500 {
		t.Errorf("waited %d ms, want 5500", got)
	}
	if w.note(false, at("11")); w.until(at("30")) != 4500 {
		t.Errorf("after the answer: %d ms, want 4500", w.until(at("30")))
	}
}
