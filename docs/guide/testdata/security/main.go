package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"log"
	"os"
	"strings"
)

func main() {
	opts := &claude.Options{
		Isolation: &claude.Isolation{}, // an empty configuration directory that is removed at the end
		Env: map[string]string{ // what passes, by name
			"ANTHROPIC_API_KEY":  os.Getenv("ANTHROPIC_API_KEY"),
			"ANTHROPIC_BASE_URL": os.Getenv("ANTHROPIC_BASE_URL"),
		},
		Tools:           []string{"Read", "Grep", "Bash"}, // the only built-in tools that exist
		DisallowedTools: []string{"Bash(curl:*)"},
		Guard:           guard,
	}
	result, err := claude.Run(context.Background(), "Summarise this directory.", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
}

func guard(ctx context.Context, req *claude.GuardRequest) (*claude.Deny, error) {
	for _, secret := range []string{".env", "id_rsa", ".aws"} {
		if strings.Contains(string(req.ToolInput), secret) {
			return &claude.Deny{Message: "That file is off limits."}, nil
		}
	}
	return nil, nil
}

func sandboxed() *claude.Options {
	return &claude.Options{Sandbox: &claude.Sandbox{Enabled: new(true), AllowUnsandboxedCommands: new(false)}}
}
