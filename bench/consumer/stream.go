package main

import (
	"context"
	"os"
	"runtime/pprof"

	"github.com/seed7221b0f9/parley/bench/internal/meter"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// streamed holds the counts and measurements of the consumer of a stream.
type streamed struct {
	Messages  int            `json:"messages"`
	TextBytes int            `json:"text_bytes"`
	Tools     map[string]int `json:"tools"`
	EndNS     int64          `json:"end_ns"` // arrival of the result
	CPUS      float64        `json:"cpu_s"`  // CPU time from the call of Query to the result
}

// stream counts messages, the bytes of every text delta's text, and tools by the name in every
// complete tool use, like the other sides. It does not call Raw: the message keeps its line, as the
// others keep the object.
func stream(ctx context.Context, cli, profile string) (*streamed, error) {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	s := &streamed{Tools: map[string]int{}}
	begin := meter.CPU()
	for m, err := range claude.Query(ctx, "go", &claude.Options{CLIPath: cli, IncludePartialMessages: true}) {
		if err != nil {
			return nil, err
		}
		s.Messages++
		switch m := m.(type) {
		case *message.StreamEvent:
			s.TextBytes += len(m.TextDelta())
		case *message.Assistant:
			for _, b := range m.Message.Content {
				if use, ok := b.(*message.ToolUse); ok {
					s.Tools[use.Name]++
				}
			}
		case *message.Result:
			s.EndNS, s.CPUS = meter.Now(), (meter.CPU() - begin).Seconds()
		}
	}
	return s, nil
}
