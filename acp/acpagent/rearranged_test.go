package acpagent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp/acptest"
)

// rearranged are variations that change where, when and how often the agent reports something,
// because agents differ in that.
var rearranged = map[string]func(v *variation){
	// All details of a call are in an update before the request, which contains only the id.
	"bare question": func(v *variation) {
		v.questions(func(l acptest.Line, call map[string]any) {
			v.moved(l, call)
			v.bare(l, call)
		})
	},
	// All details are in an update after the request.
	"late call": func(v *variation) {
		v.late = true
		v.questions(func(l acptest.Line, call map[string]any) {
			before := maps.Clone(call)
			v.bare(l, call)
			v.moved(l, before)
		})
	},
	// All details of a call are only in the request.
	"only the question": func(v *variation) {
		asked := map[string]map[string]any{}
		v.questions(func(l acptest.Line, call map[string]any) {
			asked[fmt.Sprint(l.Run, call["toolCallId"])] = call
			v.keep(l)
		})
		v.lines = nil
		known := map[string]map[string]any{} // the fields of updates before the request, by call
		v.each(func(l acptest.Line, u map[string]any) {
			if l.Method == "session/request_permission" {
				call, _ := v.params["toolCall"].(map[string]any)
				for name, value := range known[fmt.Sprint(l.Run, call["toolCallId"])] {
					if _, has := call[name]; !has && name != "sessionUpdate" && name != "status" {
						call[name] = value
					}
				}
				delete(asked, fmt.Sprint(l.Run, call["toolCallId"]))
				v.changed(l)
				return
			}
			key := fmt.Sprint(l.Run, u["toolCallId"])
			if _, later := asked[key]; later && strings.HasPrefix(fmt.Sprint(u["sessionUpdate"]), "tool_call") && u["_meta"] == nil {
				if known[key] == nil {
					known[key] = map[string]any{}
				}
				maps.Copy(known[key], u)
				return
			}
			v.keep(l)
		})
	},
	// Two requests about each call at the same time, and one about another call.
	"asked again": func(v *variation) {
		again := map[string][]string{}
		v.questions(func(l acptest.Line, call map[string]any) {
			v.keep(l)
			first, id := string(l.ID), call["toolCallId"]
			for i, about := range []any{id, fmt.Sprint("another ", id)} {
				call["toolCallId"] = about
				l.ID = json.RawMessage(fmt.Sprintf(`"again %d %d"`, l.Number, i))
				again[fmt.Sprint(l.Run, first)] = append(again[fmt.Sprint(l.Run, first)], string(l.ID))
				copied := l
				copied.Number += 2_000_000 * (i + 1)
				v.changed(copied)
			}
		})
		for i := 0; i < len(v.lines); i++ {
			l := v.lines[i]
			key := fmt.Sprint(l.Run, string(l.ID))
			if !l.Client || l.Method != "" || len(again[key]) == 0 {
				continue
			}
			for _, id := range again[key] {
				l.ID = json.RawMessage(id)
				v.lines = slices.Insert(v.lines, i, l) // answered before the first request
				i++
			}
			delete(again, key)
		}
	},
	// The arguments are a list.
	"listed input": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			call := u
			if l.Method == "session/request_permission" {
				call, _ = v.params["toolCall"].(map[string]any)
			}
			if input, ok := call["rawInput"].(map[string]any); ok && len(input) > 0 {
				call["rawInput"] = []any{input}
			}
			v.changed(l)
		})
	},
	// No message has an id.
	"no message ids": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			delete(u, "messageId")
			v.changed(l)
		})
	},
	// The last updates of a turn arrive after its end.
	"after the end": func(v *variation) {
		prompts := map[string]bool{}
		for _, l := range v.from {
			v.keep(l)
			if l.Client && l.Method == "session/prompt" {
				prompts[fmt.Sprint(l.Run, string(l.ID))] = true
			}
			if l.Client || l.Method != "" || !prompts[fmt.Sprint(l.Run, string(l.ID))] {
				continue
			}
			for at := len(v.lines) - 1; at > 0 && at > len(v.lines)-4 && !v.lines[at-1].Client && v.lines[at-1].Method == "session/update"; at-- {
				v.lines[at-1], v.lines[at] = v.lines[at], v.lines[at-1]
			}
		}
	},
	// No call ends.
	"no ends": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			if u["status"] != "completed" && u["status"] != "failed" {
				v.keep(l)
			}
		})
	},
	// Each turn with a request is cancelled at the first request.
	"cancelled": func(v *variation) {
		prompt, cancelled := "", false
		asked := map[int]bool{}
		for _, l := range v.from {
			if l.Client && l.Method != "" && len(l.ID) > 0 {
				prompt, cancelled = "", false
				if l.Method == "session/prompt" {
					prompt = string(l.ID)
				}
			}
			if cancelled {
				continue
			}
			v.keep(l)
			if l.Client || l.Method != "session/request_permission" || prompt == "" {
				continue
			}
			cancelled, asked[l.Number] = true, true
			v.keep(acptest.Line{Run: l.Run, Client: true, Message: acptest.Message{Method: "session/cancel", Params: json.RawMessage(`{"sessionId":` + string(v.session(l)) + `}`)}})
			if l.Number%2 == 0 {
				v.insert(l, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`, l.ID)
			}
			v.keep(acptest.Line{Run: l.Run, Client: true, Message: acptest.Message{ID: l.ID, Result: json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`)}})
			v.insert(l, `{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, prompt)
		}
		v.meta.Asks = slices.DeleteFunc(v.meta.Asks, func(a acptest.Ask) bool { return !asked[a.Line] })
	},
	// Unknown kinds of options.
	"kinds of options": func(v *variation) {
		other := strings.NewReplacer("allow_once", "allow_this_time", "allow_always", "allow_in_project", "reject_once", "reject_this_time", "reject_always", "reject_in_project")
		v.questions(func(l acptest.Line, _ map[string]any) {
			options, _ := v.params["options"].([]any)
			for _, o := range options {
				o := o.(map[string]any)
				o["kind"] = other.Replace(fmt.Sprint(o["kind"]))
			}
			v.changed(l)
		})
		for i := range v.meta.Asks {
			for j, o := range v.meta.Asks[i].Options {
				kind, name, _ := strings.Cut(o, ": ")
				v.meta.Asks[i].Options[j] = other.Replace(kind) + ": " + name
			}
		}
	},
	// Invalid requests, and requests that are not offered. The agent waits for each answer.
	"wrong requests": func(v *variation) {
		v.each(func(l acptest.Line, u map[string]any) {
			if k := u["sessionUpdate"]; k == "tool_call" || k == "agent_message_chunk" {
				for _, r := range []string{
					`"fs/read_text_file","params":{"sessionId":%s,"path":"relative"}`, `"fs/read_text_file","params":{"sessionId":%s}`, `"fs/write_text_file","params":{"sessionId":%s,"path":"/none/none","content":"x"}`,
					`"terminal/create","params":{"sessionId":%s,"command":""}`, `"terminal/output","params":{"sessionId":%s,"terminalId":"none"}`, `"terminal/wait_for_exit","params":{"sessionId":%s,"terminalId":"none"}`,
					`"session/request_permission","params":{"sessionId":%s,"toolCall":7}`, `"elicitation/create","params":{"sessionId":%s,"message":7}`,
				} {
					id := fmt.Sprintf(`"wrong %d"`, v.number)
					v.insert(l, `{"jsonrpc":"2.0","id":`+id+`,"method":`+r+`}`, v.session(l))
					v.keep(acptest.Line{Run: l.Run, Client: true, Message: acptest.Message{ID: json.RawMessage(id)}})
				}
				v.insert(l, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"none"}}`)
			}
			v.keep(l)
		})
	},
}

// questions calls f for the permission requests of the agent, with their calls. It keeps other
// lines.
func (v *variation) questions(f func(l acptest.Line, call map[string]any)) {
	v.each(func(l acptest.Line, _ map[string]any) {
		call, ok := v.params["toolCall"].(map[string]any)
		if l.Method != "session/request_permission" || !ok {
			v.keep(l)
			return
		}
		f(l, call)
	})
}

// moved adds an update with all details that a request has about its call.
func (v *variation) moved(l acptest.Line, call map[string]any) {
	update := maps.Clone(call)
	update["sessionUpdate"] = "tool_call_update"
	text, err := json.Marshal(update)
	if err != nil {
		panic(err)
	}
	v.insert(l, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`, v.session(l), text)
}

// bare replaces the call in a permission request by its id only.
func (v *variation) bare(l acptest.Line, call map[string]any) {
	v.params["toolCall"] = map[string]any{"toolCallId": call["toolCallId"]}
	v.changed(l)
}
