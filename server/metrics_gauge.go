package server

import (
	"context"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strings"

	"github.com/seed7221b0f9/parley/server/session"
)

// memoryBytes returns the memory of the process from the system, according to the Go runtime.
func memoryBytes() float64 {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	runtimemetrics.Read(samples)
	return float64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// writeGauges writes the current state of the server.
func (s *Server) writeGauges(b *strings.Builder) {
	states, queued, prompts, loaded := map[session.State]int{}, 0, 0, 0
	for _, st := range []session.State{session.Starting, session.Idle, session.Running, session.RequiresAction, session.Interrupted, session.Draining, session.Failed, session.Ended, session.LostHost} {
		states[st] = 0
	}
	for _, e := range s.sessions.All(context.Background()) {
		states[session.State(e.State)]++
		queued += int(e.Queued)
		prompts += int(e.Prompts)
		if e.Loaded {
			loaded++
		}
	}
	free, waiting := s.sessions.Places()
	gauge := func(name, help string, v float64) {
		heading(b, metric{name, help, "gauge", nil})
		sample(b, name, "", v)
	}
	heading(b, metric{"parley_sessions", "Sessions by state.", "gauge", nil})
	for _, st := range []session.State{session.Starting, session.Idle, session.Running, session.RequiresAction, session.Interrupted, session.Draining, session.Failed, session.Ended, session.LostHost} {
		sample(b, "parley_sessions", labels("state", string(st)), float64(states[st]))
	}
	gauge("parley_sessions_loaded", "Sessions in memory.", float64(loaded))
	gauge("parley_agents_running", "Agents that run.", float64(s.opts.MaxAgents-free))
	gauge("parley_agents_max", "Agents that may run at once.", float64(s.opts.MaxAgents))
	gauge("parley_agents_waiting", "Agents that wait for a place.", float64(waiting))
	gauge("parley_connections", "Open sockets and streams.", float64(len(s.conns)))
	gauge("parley_queued_inputs", "Inputs that wait in the queues of sessions.", float64(queued))
	gauge("parley_open_requests", "Requests of agents that wait for a person.", float64(prompts))
	s.writeLimitGauges(b, gauge)
	gauge("parley_start_time_seconds", "When the server was started, in seconds since 1970.", float64(s.began.Unix()))
	gauge("parley_goroutines", "Goroutines of the process.", float64(runtime.NumGoroutine()))
	gauge("parley_memory_bytes", "Memory that the process has from the system, as Go counts it.", memoryBytes())
	heading(b, metric{"parley_build_info", "The version of the server.", "gauge", nil})
	sample(b, "parley_build_info", labels("version", s.opts.Version), 1)
}

func (s *Server) writeLimitGauges(b *strings.Builder, gauge func(name, help string, v float64)) {
	heading(b, metric{"parley_budget_used_ratio", "How much of a budget is used, 1 for all of it; of a budget for each, the most.", "gauge", nil})
	for _, st := range s.accounts.all() {
		sample(b, "parley_budget_used_ratio", labels("budget", st.Limit.ID, "scope", st.Scope, "target", st.Target), st.Part())
	}
	last, _ := s.webhooks.outbox.last()
	pending := 0.0
	for _, k := range s.webhooks.list() {
		if k.Enabled && last > k.Cursor {
			pending = max(pending, float64(last-k.Cursor))
		}
	}
	gauge("parley_webhook_pending", "Events that the slowest webhook has not taken yet.", pending)
}
