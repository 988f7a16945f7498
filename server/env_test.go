package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestAgentEnv checks that agents get the variables that are allowed, and no others: not those with a name that only begins or ends like an
// allowed one.
func TestAgentEnv(t *testing.T) {
	for entry, want := range map[string]bool{
		"PATH=/bin": true, "HOME=": true, "LC_ALL=C": true, "LC_=x": true, "ANTHROPIC_API_KEY=k": true, "MY_ONE=1": true, "MY_MANY_A=1": true,
		"GITHUB_TOKEN=s": false, "AWS_SECRET_ACCESS_KEY=s": false, "PATH2=x": false, "XPATH=x": false, "path=x": false, "LC=x": false, "MY_ONE_MORE=1": false, "MY_MANY=1": false, "PARLEY_TOKEN=s": false,
		"LC_*=x": true, "PATH": false, "=x": false, "": false,
	} {
		got := AgentEnv([]string{entry}, []string{"MY_ONE", "MY_MANY_*"})
		if (len(got) == 1 && got[0] == entry) != want || !want && len(got) != 0 {
			t.Errorf("of %q agents get %q, want it: %v", entry, got, want)
		}
	}
	for _, name := range agentVariables {
		name = strings.ReplaceAll(name, "*", "X")
		if got := AgentEnv([]string{"SECRET=1", name + "=v=w", "OTHER=2"}, nil); !slices.Equal(got, []string{name + "=v=w"}) {
			t.Errorf("agents get %q, want %s alone", got, name)
		}
	}
}

// simulated is a provider that reports whether its agents are simulated.
type simulated struct {
	*agenttest.Provider
	is bool
}

func (s simulated) Simulated() bool { return s.is }

// TestDescribeProvider_simulated checks which agents are reported as simulated: those that are, and
// the default agent of a server with Options.Simulated.
func TestDescribeProvider_simulated(t *testing.T) {
	plain := &agenttest.Provider{}
	for _, tt := range []struct {
		p             agent.Provider
		server, first bool
		want          bool
	}{
		{plain, false, false, false}, {plain, false, true, false}, {plain, true, false, false}, {plain, true, true, true},
		{simulated{plain, true}, false, false, true}, {simulated{plain, false}, false, false, false}, {simulated{plain, false}, true, true, true}, {simulated{plain, false}, true, false, false},
	} {
		s := &Server{opts: Options{Simulated: tt.server}}
		if got := s.describeProvider(tt.p, tt.first, nil); got.Simulated != tt.want || got.Default != tt.first || !got.Available {
			t.Errorf("%T, first %v, on a server that simulates %v: %+v, want it simulated: %v", tt.p, tt.first, tt.server, got, tt.want)
		}
	}
}

// TestWithContexts checks that contexts precede the text, in the language of the caller, and that invalid ones are refused.
func TestWithContexts(t *testing.T) {
	file := event.JSON(`{"type":"file","data":{"path":"a.go"}}`)
	for name, tt := range map[string]struct {
		contexts []event.JSON
		language string
		refused  bool
	}{
		"none": {nil, "", false}, "none in English": {nil, "en", false}, "none in another language": {nil, "fr", true},
		"not JSON": {[]event.JSON{`{`}, "", true}, "not a context": {[]event.JSON{`7`}, "", true}, "another language": {[]event.JSON{file}, "fr", true},
	} {
		got, err := withContexts("text", tt.contexts, tt.language)
		if tt.refused {
			if session.FailureOf(err).Reason != api.InvalidParams || got != "" {
				t.Errorf("%s: %q, %v, want no text and the reason %s", name, got, err, api.InvalidParams)
			}
		} else if err != nil || got != "text" {
			t.Errorf("%s: %q, %v, want the text", name, got, err)
		}
	}
}

// TestWithin checks which paths are in a directory.
func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path string
		want bool
	}{{"/a/b", true}, {"/a/b/c", true}, {"/a/b/..c", true}, {"/a/b/...", true}, {"/a", false}, {"/a/bc", false}, {"/a/c", false}, {"/", false}, {"/b", false}} {
		if got := within("/a/b", tt.path); got != tt.want {
			t.Errorf("%s is within /a/b: %v, want %v", tt.path, got, tt.want)
		}
	}
	if !within("/", "/x") || !within("/", "/") {
		t.Error("a path is not within the root")
	}
}
