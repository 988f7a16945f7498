package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
)

// row is one line of the table and one element of the JSON.
type row struct {
	Name   string              `json:"name"`
	Unit   string              `json:"unit"`
	Better string              `json:"better"` // more or less
	Parley float64             `json:"parley"`
	Peers  map[string]*float64 `json:"peers"`
	Ratio  *float64            `json:"ratio"` // factor by which it is better than ts, or than the side that the row names

	against *float64 // another figure for the target
}

// kind holds the fixed properties of a row.
type kind struct {
	name, unit, better string
	target             string
	met                func(*row) *bool // returns nil if the target cannot be evaluated
	against            string           // the side for the ratio; "" is ts
}

// peers returns the sides with figures in a row.
func (k *kind) peers() map[string]*float64 {
	switch k.against {
	case "ccusage", "claude":
		return map[string]*float64{k.against: nil}
	}
	if k.against == "adapter" {
		return map[string]*float64{"adapter": nil}
	}
	return map[string]*float64{"ts": nil, "python": nil, "cat": nil}
}

var kinds = []kind{
	{"stream_msgs_per_s", "msg/s", "more", "≥ 5× ts", atLeast(5), ""},
	{"stream_cpu_s", "s", "less", "", nil, ""},
	{"stream_vs_cat", "x", "less", "≤ 3", atMost(3), ""},
	{"delta_allocs", "allocs", "less", "≤ 4", atMost(4), ""},
	{"ui_event_ns", "ns", "less", "≤ json.Marshal/3", atLeast(3), "marshal"},
	{"ui_event_allocs", "allocs", "less", "≤ 3", atMost(3), "marshal"},
	{"ts_fold_ms", "ms", "less", "≤ 200 or 3× Go", foldTarget, "go"},
	{"first_message_ms", "ms", "less", "≤ ts/10", atLeast(10), ""},
	{"idle_heap_bytes", "B", "less", "≤ 64 KiB", atMost(64 << 10), ""},
	{"idle_stack_bytes", "B", "less", "", nil, ""},
	{"idle_goroutines", "goroutines", "less", "≤ 8", atMost(8), ""},
	{"supervisor_start_ms", "ms", "less", "≤ 15", atMost(15), ""},
	{"supervisor_rss_bytes", "B", "less", "≤ 8 MiB", atMost(8 << 20), ""},
	{"host_line_ms", "ms", "less", "≤ 0.2", atMost(0.2), ""},
	{"host_throughput", "x", "more", "≥ 0.9", atLeastFigure(0.9), ""},
	{"host_bytes_per_session", "B", "less", "≤ 256 KiB", atMost(256 << 10), ""},
	{"joined_line_ms", "ms", "less", "", nil, ""},
	{"joined_throughput", "x", "more", "", nil, ""},
	{"joined_lines_per_s", "lines/s", "more", "", nil, ""},
	{"joined_bytes_per_agent", "B", "less", "", nil, ""},
	{"adopt_4_ms", "ms", "less", "", nil, ""},
	{"adopt_1k_ms", "ms", "less", "", nil, ""},
	{"adopt_100k_ms", "ms", "less", "≤ 1000", atMost(1000), ""},
	{"usage_daily_s", "s", "less", "≤ ccusage/3", atLeast(3), "ccusage"},
	{"usage_daily_cpu_s", "s", "less", "", nil, "ccusage"},
	{"usage_rss_bytes", "B", "less", "≤ 64 MiB", atMost(64 << 20), "ccusage"},
	{"list_sessions_s", "s", "less", "≤ ts/10", atLeast(10), ""},
	{"list_again_s", "s", "less", "≤ ts/100", atLeast(100), ""},
	{"search_rare_s", "s", "less", "", nil, ""},
	{"last_100_ms", "ms", "less", "", nil, ""},
	{"last_100_read_percent", "%", "less", "≤ 1", atMost(1), ""},
	{"codex_usage_mb_per_cpu_s", "MB/CPU s", "more", "≥ 1× claude", atLeast(1), "claude"},
	{"codex_list_mb_per_cpu_s", "MB/CPU s", "more", "≥ 1× claude", atLeast(1), "claude"},
	{name: "warm_first_message_ms", unit: "ms", better: "less"},
	{"acp_initialize_ms", "ms", "less", "≤ adapter/20", atLeast(20), "adapter"},
	{"acp_session_ms", "ms", "less", "≤ connect + 10 %", sessionTarget, "adapter"},
	{"acp_warm_session_ms", "ms", "less", "≤ adapter/3", atLeast(3), "adapter"},
	{"acp_connect_ms", "ms", "less", "", nil, "adapter"},
	{"acp_first_update_ms", "ms", "less", "≤ adapter", atLeast(1), "adapter"},
	{"acp_rss_bytes", "B", "less", "≤ adapter/10", atLeast(10), "adapter"},
	{"acp_turn_rss_bytes", "B", "less", "", nil, "adapter"},
	{"eventlog_synced_per_s", "events/s", "more", "≥ 5000", atLeastFigure(5000), "fsync"},
}

func atMost(limit float64) func(*row) *bool {
	return func(r *row) *bool { met := r.Parley <= limit; return &met }
}

// atLeastFigure returns a target for the figure.
func atLeastFigure(limit float64) func(*row) *bool {
	return func(r *row) *bool { met := r.Parley >= limit; return &met }
}

// foldTarget is the target of the TypeScript fold: fast, or at least not much slower than Go's.
func foldTarget(r *row) *bool {
	met := r.Parley <= 200 || r.Ratio != nil && *r.Ratio >= 1.0/3
	return &met
}

// atLeast returns a target for the ratio.
func atLeast(times float64) func(*row) *bool {
	return func(r *row) *bool {
		if r.Ratio == nil {
			return nil
		}
		met := *r.Ratio >= times
		return &met
	}
}

func rowNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func findRow(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

// report is the result of a run.
type report struct {
	rows  []row
	notes []string
}

func (b *bench) report() *report {
	r := &report{rows: []row{}}
	for _, k := range kinds {
		if !b.wants([]string{k.name}) {
			continue
		}
		if own := b.row(k); own != nil {
			r.rows = append(r.rows, *own)
		}
	}
	r.notes = append(b.notes, b.details()...)
	return r
}

// row returns the medians of a row, nil if it was not measured.
func (b *bench) row(k kind) *row {
	r := &row{Name: k.name, Unit: k.unit, Better: k.better, Peers: k.peers()}
	if k.name == "stream_vs_cat" {
		parley, cat := b.median("stream_s", "parley"), b.median("stream_s", "cat")
		if parley == nil || cat == nil {
			return nil
		}
		r.Parley, r.Peers["cat"] = *parley / *cat, cat
		return r
	}
	parley := b.median(k.name, "parley")
	if parley == nil {
		return nil
	}
	r.Parley = *parley
	if k.name == "acp_session_ms" {
		r.against = b.median("acp_connect_ms", "parley")
	}
	for peer := range r.Peers {
		r.Peers[peer] = b.median(k.name, peer)
	}
	r.Ratio = ratio(k.better, *parley, b.median(k.name, cmp.Or(k.against, "ts")))
	return r
}

// ratio returns the factor by which a figure is better than a peer's; nil if it is undefined.
func ratio(better string, parley float64, peer *float64) *float64 {
	if peer == nil || *peer <= 0 || parley <= 0 {
		return nil
	}
	times := parley / *peer
	if better == "less" {
		times = *peer / parley
	}
	return &times
}

// details returns figures that have no row, with the minimum and maximum of the rounds.
func (b *bench) details() []string {
	var notes []string
	say := func(figure, side, text string) {
		if m := b.median(figure, side); m != nil {
			all := b.samples[sample{figure, side}]
			notes = append(notes, fmt.Sprintf(text+" (%.3f to %.3f)", *m, slices.Min(all), slices.Max(all)))
		}
	}
	for _, s := range append([]string{"parley"}, b.peers...) {
		say("stream_s", s, "stream: "+s+" took %.3f s")
	}
	say("delta_allocs_query", "parley", "delta_allocs: %.2f on the whole way through Query over a Transport")
	say("ui_event_ns", "marshal", "ui_event_ns: %.0f with json.Marshal")
	say("ui_event_allocs", "marshal", "ui_event_allocs: %.2f with json.Marshal")
	say("eventlog_synced_per_s", "fsync", "eventlog_synced_per_s: %.0f in records of the same size by a bare loop of write and fsync")
	say("ts_fold_ms", "go", "ts_fold_ms: %.2f ms for the same in Go")
	for _, s := range b.sides {
		say("first_message_ms", s.name, "first_message: "+s.name+" %.3f ms")
		say("first_query_ms", s.name, "first_message: "+s.name+" %.3f ms with the start of the CLI")
		say("first_spawn_ms", s.name, "first_message: "+s.name+" %.3f ms to start it by this runtime")
		say("warm_first_message_ms", s.name, "warm_first_message: "+s.name+" %.3f ms")
		say("cold_first_message_ms", s.name, "warm_first_message: "+s.name+" %.3f ms with the start of the CLI")
		say("first_bare_ms", s.name, "first_message: "+s.name+" %.3f ms for the same dialogue without an SDK, less the start")
	}
	for _, figure := range []string{"idle_clients", "idle_threads", "idle_heap_bytes"} {
		say(figure, "parley", figure+": %.2f")
	}
	for _, s := range []string{"parley", "ccusage"} {
		say("usage_daily_s", s, "usage_daily: "+s+" took %.3f s")
	}
	say("codex_usage_mb_per_cpu_s", "claude", "codex_usage: %.0f MB a second of CPU time for Claude's files")
	say("codex_list_mb_per_cpu_s", "claude", "codex_list: %.0f MB a second of CPU time for Claude's files")
	for _, s := range b.sides {
		if m := b.median("first_message_ms", s.name); m != nil && *m <= 0 {
			notes = append(notes, "first_message: the figure of "+s.name+" is noise: no call is faster than the start in it; run again on a quiet machine")
		}
	}
	return append(notes, fmt.Sprintf("%s, %s/%s, %d processors, medians of %d rounds",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.rounds))
}

// print prints the table and the notes below it.
func (r *report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "row\tunit\tbetter\tparley\tts\tpython\tcat\tccusage\tadapter\t×\ttarget\tmet\t")
	for i := range r.rows {
		own := &r.rows[i]
		k := findRow(own.Name)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", own.Name, own.Unit, own.Better, number(&own.Parley),
			number(own.Peers["ts"]), number(own.Peers["python"]), number(own.Peers["cat"]), number(own.Peers["ccusage"]), number(own.Peers["adapter"]), number(own.Ratio), k.target, k.verdict(own))
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, note := range r.notes {
		fmt.Fprintln(w, note)
	}
}

func (k *kind) verdict(r *row) string {
	if k.met == nil {
		return ""
	}
	switch met := k.met(r); {
	case met == nil:
		return "?"
	case *met:
		return "yes"
	}
	return "no"
}

// number formats a figure with a sensible number of digits.
func number(v *float64) string {
	switch {
	case v == nil:
		return "–"
	case *v >= 1000 || *v == float64(int64(*v)):
		return strconv.FormatFloat(*v, 'f', 0, 64)
	case *v >= 10:
		return strconv.FormatFloat(*v, 'f', 1, 64)
	}
	return strconv.FormatFloat(*v, 'f', 3, 64)
}

func writeJSON(name string, rows []row) error {
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
