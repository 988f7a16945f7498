package claudeagent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// The tools that read or change the file that their input names, and those that change it.
const (
	fileTools     = "Read|Edit|MultiEdit|Write"
	changingTools = "Edit|MultiEdit|Write"
)

// filesTimeout is the CLI's time limit for the functions called around a tool.
const filesTimeout = time.Minute

// withFiles adds hooks that call f around the tools that use files. They do not affect
// permissions; a failing hook does not prevent the tool from running.
func withFiles(own *hook.Hooks, f agent.Files) *hook.Hooks {
	all := own.Clone()
	if all == nil {
		all = &hook.Hooks{}
	}
	before := func(ctx context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		if path := filePath(in.CWD, in.ToolInput); path != "" {
			f.Before(ctx, path)
		}
		return nil, nil
	}
	after := func(ctx context.Context, in *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) {
		if path := filePath(in.CWD, in.ToolInput); path != "" {
			f.After(ctx, path)
		}
		return nil, nil
	}
	all.PreToolUse = append(all.PreToolUse, hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{
		Matcher: fileTools, Hooks: []hook.PreToolUseFunc{before}, Timeout: filesTimeout, OnFailure: hook.Continue,
	})
	all.PostToolUse = append(all.PostToolUse, hook.Matcher[hook.PostToolUseInput, hook.PostToolUseOutput]{
		Matcher: changingTools, Hooks: []hook.PostToolUseFunc{after}, Timeout: filesTimeout, OnFailure: hook.Continue,
	})
	return all
}

// filePath returns the absolute path of the file that a tool's input names, or "".
func filePath(dir string, input message.JSON) string {
	var in struct {
		FilePath string `json:"file_path"`
	}
	if json.Unmarshal([]byte(input), &in) != nil || in.FilePath == "" {
		return ""
	}
	path := in.FilePath
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}
