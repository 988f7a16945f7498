package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
)

// clusterRecord is the part of a log record that the checker reads.
type clusterRecord struct {
	Seq   uint64
	Epoch uint64 // of the owner that writes from this record on; 0 for none
	Node  string
	Line  uint64 // the last line of the agent that this record or an earlier one includes; 0 for none
	Agent *uint32
	In    string // the host that runs the agent
	Keys  []string
}

// readClusterLog reads the records of a session.
func readClusterLog(t *testing.T, store *eventlog.Store, id string) (all []clusterRecord) {
	t.Helper()
	for ev, err := range store.Log(id).Read(t.Context(), eventlog.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Sub != 0 {
			continue
		}
		var rec struct {
			F struct {
				Owner struct {
					Node  string
					Epoch uint64
				}
				Line uint64
				Host *uint32
				In   string `json:"host_in"`
				Key  *struct{ Key string }
			}
		}
		if err := json.Unmarshal(ev.Data, &rec); err != nil {
			t.Fatal(err)
		}
		r := clusterRecord{Seq: ev.Seq, Epoch: rec.F.Owner.Epoch, Node: rec.F.Owner.Node, Line: rec.F.Line, Agent: rec.F.Host, In: rec.F.In}
		if rec.F.Key != nil {
			r.Keys = []string{rec.F.Key.Key}
		}
		all = append(all, r)
	}
	return all
}

// checkClusterLog checks that the log of a session is consistent: the records are numbered without
// gaps, the epochs of successive owners increase, and every line of an agent and every key of a
// request counts once.
func checkClusterLog(all []clusterRecord) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(all) == 0 || all[0].Epoch == 0 {
		report("its first record names no owner")
	}
	var epoch, line uint64
	keys := map[string]bool{}
	for i, r := range all {
		if r.Seq != uint64(i+1) {
			report("record %d came as number %d", r.Seq, i+1)
		}
		if r.Epoch > 0 && r.Epoch <= epoch {
			report("record %d begins epoch %d of %s after epoch %d", r.Seq, r.Epoch, r.Node, epoch)
		}
		epoch = max(epoch, r.Epoch)
		if r.Agent != nil {
			line = 0
		}
		if r.Line > 0 && r.Line <= line {
			report("record %d is about line %d, after one about line %d", r.Seq, r.Line, line)
		}
		line = max(line, r.Line)
		for _, key := range r.Keys {
			if keys[key] {
				report("record %d accepts the key %s again", r.Seq, key)
			}
			keys[key] = true
		}
	}
	return problems
}

// TestCheckClusterLog checks that the checker finds each kind of violation.
func TestCheckClusterLog(t *testing.T) {
	good := func() []clusterRecord {
		return []clusterRecord{{Seq: 1, Epoch: 3, Node: "a"}, {Seq: 2, Agent: new(uint32(1)), In: "h"}, {Seq: 3, Line: 4, Keys: []string{"k"}}, {Seq: 4, Epoch: 9, Node: "b"}, {Seq: 5, Line: 5}}
	}
	if problems := checkClusterLog(good()); len(problems) > 0 {
		t.Errorf("a good log: %v", problems)
	}
	for name, change := range map[string]func([]clusterRecord){
		"a record is missing":   func(l []clusterRecord) { l[3].Seq, l[4].Seq = 5, 6 },
		"a record came twice":   func(l []clusterRecord) { l[4].Seq = 4 },
		"no owner":              func(l []clusterRecord) { l[0].Epoch = 0 },
		"an earlier owner":      func(l []clusterRecord) { l[3].Epoch = 2 },
		"one epoch, two owners": func(l []clusterRecord) { l[3].Epoch = 3 },
		"a line came twice":     func(l []clusterRecord) { l[4].Line = 4 },
		"a request ran twice":   func(l []clusterRecord) { l[4].Keys = []string{"k"} },
	} {
		log := good()
		if change(log); len(checkClusterLog(log)) == 0 {
			t.Errorf("the checker does not find: %s", name)
		}
	}
}
