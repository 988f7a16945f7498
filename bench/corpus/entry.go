package corpus

import (
	"fmt"
	"strconv"
	"time"
)

// Each method writes lines in the key order of the CLI.

const stamp = "2006-01-02T15:04:05.000Z"

func (s *session) now() string { return s.clock.Format(stamp) }

// put writes the current line. Forks have only the lines of the tree.
func (s *session) put(line []byte, tree bool) {
	s.line = line[:0]
	line = append(line, '\n')
	s.written += int64(len(line))
	if s.err != nil || s.repeats && !tree {
		return
	}
	if s.repeats && s.newUUIDs { // after the random choices that determine the rest of the session
		line = fmt.Appendf(line[:len(line)-2], `,"forkedFrom":{"sessionId":"%s","messageUuid":"%s"}}`+"\n", s.origin, s.parent)
	}
	s.manifest.Lines++
	s.manifest.Bytes += int64(len(line))
	_, s.err = s.writer.Write(line)
}

// side writes a record outside of the tree.
func (s *session) side(format string, args ...any) {
	s.put(fmt.Appendf(s.line[:0], format, args...), false)
}

// open starts a line of the tree; its uuid is the parent of the next.
func (s *session) open() (line []byte, uuid string) {
	b := append(s.line[:0], `{"parentUuid":`...)
	b = appendQuoted(b, s.parent)
	b = append(b, `,"isSidechain":`...)
	b = strconv.AppendBool(b, s.agent != "")
	if s.old {
		b = fmt.Appendf(b, `,"userType":"external","cwd":"%s","sessionId":"%s","version":"%s","gitBranch":"%s"`, s.cwd, s.id, s.version, s.branch)
	}
	uuid = s.uuids(randomUUID(s.random))
	s.parent = uuid
	return b, uuid
}

func appendQuoted(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// close ends a line of the tree.
func (s *session) close(b []byte) {
	if !s.old {
		b = fmt.Appendf(b, `,"userType":"external","entrypoint":"cli","cwd":"%s","sessionId":"%s","version":"%s","gitBranch":"%s"`, s.cwd, s.id, s.version, s.branch)
	}
	s.put(append(b, '}'), true)
}

// begin writes the first lines of a run of the CLI.
func (s *session) begin() {
	if s.old || s.agent != "" {
		return
	}
	s.side(`{"type":"mode","mode":"normal","sessionId":"%s"}`, s.id)
	s.attachment("environment", 900)
	s.attachment("skill_listing", 12000)
	s.attachment("prompt_snapshot", 52000)
	b := fmt.Appendf(s.line[:0], `{"type":"api-request-shape","sessionId":"%s","shapeHash":"%s","timestamp":"%s","version":"%s","shape":{"system":[{"type":"text","text":"`,
		s.id, randomHex(s.random, 64), s.now(), s.version)
	s.put(append(appendText(b, s.random, sentences, 33000), `"}]}}`...), false)
}

func (s *session) attachment(kind string, size int) {
	b, uuid := s.open()
	if s.agent != "" {
		b = fmt.Appendf(b, `,"agentId":"%s"`, s.agent)
	}
	b = fmt.Appendf(b, `,"attachment":{"type":"%s","content":"`, kind)
	b = appendText(b, s.random, sentences, size)
	s.close(fmt.Appendf(b, `"},"type":"attachment","uuid":"%s","timestamp":"%s"`, uuid, s.now()))
}

func (s *session) userPrompt() {
	if s.agent == "" && !s.old {
		s.side(`{"type":"queue-operation","operation":"enqueue","timestamp":"%s","sessionId":"%s","content":"go on"}`, s.now(), s.id)
		s.side(`{"type":"queue-operation","operation":"dequeue","timestamp":"%s","sessionId":"%s"}`, s.now(), s.id)
	}
	b, uuid := s.open()
	b = s.appendUserType(b)
	b = append(b, `,"message":{"role":"user","content":"`...)
	b = appendText(b, s.random, sentences, 40+s.random.IntN(400))
	b = fmt.Appendf(b, `"},"uuid":"%s","timestamp":"%s"`, uuid, s.now())
	if !s.old {
		b = append(b, `,"permissionMode":"acceptEdits"`...)
	}
	s.close(b)
}

func (s *session) appendUserType(b []byte) []byte {
	if !s.old {
		b = fmt.Appendf(b, `,"promptId":"%s"`, s.prompt)
	}
	if s.agent != "" {
		b = fmt.Appendf(b, `,"agentId":"%s"`, s.agent)
	}
	return append(b, `,"type":"user"`...)
}

func (s *session) endOfTurn() {
	if s.agent != "" {
		return
	}
	if s.old {
		s.side(`{"type":"summary","summary":"Looking at the store","leafUuid":"%s"}`, s.parent)
		return
	}
	s.side(`{"type":"last-prompt","lastPrompt":"go on","leafUuid":"%s","sessionId":"%s"}`, s.parent, s.id)
	s.side(`{"type":"atis-latch","atis":"","sessionId":"%s"}`, s.id)
	s.side(`{"type":"tools-used","tools":["Bash","Edit","Read"],"sessionId":"%s"}`, s.id)
}

func (s *session) apiError() {
	if s.old {
		return
	}
	b, uuid := s.open()
	s.close(fmt.Appendf(b, `,"type":"assistant","uuid":"%s","timestamp":"%s","message":{"id":"%s","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","type":"message","usage":{"output_tokens_details":null,"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":null,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":null,"iterations":null},"content":[{"type":"text","text":"API Error: 500"}]},"error":"server_error","isApiErrorMessage":true,"apiErrorStatus":500`,
		uuid, s.now(), randomUUID(s.random)))
	s.pause(time.Minute, time.Second)
}

func (s *session) compact() {
	old := s.parent
	s.parent = ""
	b, uuid := s.open()
	s.close(fmt.Appendf(b, `,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","timestamp":"%s","uuid":"%s","logicalParentUuid":"%s","compactMetadata":{"trigger":"auto","preTokens":167000}`, s.now(), uuid, old))
	b, uuid = s.open()
	b = s.appendUserType(b)
	b = append(b, `,"message":{"role":"user","content":"`...)
	b = appendText(b, s.random, sentences, 4000)
	s.close(fmt.Appendf(b, `"},"isCompactSummary":true,"uuid":"%s","timestamp":"%s"`, uuid, s.now()))
}
