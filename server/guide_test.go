package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

var guideRequest = regexp.MustCompile("(?s)```http\nPOST /v1/([a-zA-Z.]+)\n\n(.*?)\n```")

// TestGuide runs the requests of docs/guide/workspaces.md in order, and compares the form of a
// review in it with the real one.
func TestGuide(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	page, err := os.ReadFile(filepath.Join("..", "docs", "guide", "workspaces.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRepoHarness(t)
	values := map[string]string{"/srv/project": r.repo}
	var seen []string
	for _, m := range guideRequest.FindAllStringSubmatch(string(page), -1) {
		method, body := m[1], m[2]
		for name, value := range values {
			body = strings.ReplaceAll(body, name, value)
		}
		checkParams(t, method, body)
		if method == "workspace.push" {
			continue // the repository has no remote; TestPush of workspace has one
		}
		result, e := r.post(method, json.RawMessage(body))
		if e != nil {
			t.Fatalf("%s %s: %+v", method, body, e)
		}
		r.guideResult(method, result, values)
		seen = append(seen, method)
	}
	for _, want := range []string{"workspace.create", "session.connect", "workspace.diff", "workspace.revert", "workspace.commit", "review.comment", "review.send", "workspace.remove"} {
		if !slices.Contains(seen, want) {
			t.Errorf("the page has no request of %s", want)
		}
	}
}

// checkParams fails the test if parameters have an unknown member.
func checkParams(t *testing.T, method, body string) {
	t.Helper()
	i := slices.IndexFunc(Methods(), func(m Method) bool { return m.Name == method })
	if i < 0 {
		t.Fatalf("there is no method %s", method)
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(reflect.New(Methods()[i].Params).Interface()); err != nil {
		t.Errorf("%s: %v", method, err)
	}
}

// guideResult extracts the values that later requests need from a response, and performs the
// agent's work in between.
func (r *repoHarness) guideResult(method string, data []byte, values map[string]string) {
	r.Helper()
	var result struct {
		Workspace api.Workspace
		SessionID string `json:"session_id"`
		TurnID    string `json:"turn_id"`
		Commit    string
	}
	if err := json.Unmarshal(data, &result); err != nil {
		r.Fatal(err)
	}
	session := values["SESSION"]
	switch method {
	case "workspace.create":
		values["WORKSPACE"], values["path"] = result.Workspace.ID, result.Workspace.Path
	case "session.connect":
		values["SESSION"] = result.SessionID
		r.turn(result.SessionID, func() {
			path := filepath.Join(values["path"], "a.txt")
			edit(r.T, path, "line 5\n", "five\n")
			edit(r.T, path, "line 30\n", "thirty\n")
		})
	case "workspace.diff", "workspace.revert", "workspace.commit":
		hunks := r.fileOf(r.diff(session, api.WorkspaceScope{}), "a.txt").Hunks
		values["HUNK"] = hunks[0].ID
	case "review.send":
		w := r.watch(session)
		defer w.stop()
		w.results(2)
	}
	if method == "workspace.commit" {
		if got := r.git(values["path"], "log", "-1", "--format=%b"); got != fmt.Sprintf("Parley-Session: %s\n", session) {
			r.Errorf("the commit has %q", got)
		}
	}
}
