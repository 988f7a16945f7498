package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"log"
	"os"
	"os/exec"
	"os/signal"
)

// ask prints the answer to a prompt. It denies everything that the agent asks for.
func ask(ctx context.Context, p agent.Provider, dir, prompt string) error {
	s, err := p.Open(ctx, agent.Options{Dir: dir, Env: os.Environ(), Partial: true})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Send(ctx, agent.Input{Text: prompt}); err != nil {
		return err
	}
	for ev, err := range s.Events(ctx) {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case *event.TextDelta:
			fmt.Print(ev.Text)
		case *event.PermissionRequest:
			err = s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Message: "not in this program"})
		case *event.ResultMessage:
			fmt.Println()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func providers(server *client.Client) map[string]agent.Provider {
	all := map[string]agent.Provider{
		"claude":   &claudeagent.Provider{},
		"codex":    &codexagent.Provider{},
		"opencode": &acpagent.Provider{Command: []string{"opencode", "acp"}},
	}
	if server != nil {
		all["server"] = &serveragent.Provider{Client: server}
	}
	return all
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	for name, p := range providers(nil) {
		if _, err := exec.LookPath(name); err != nil {
			continue // it is not installed
		}
		fmt.Print(name, ": ")
		if err := ask(ctx, p, dir, "Which language is this project written in? One word."); err != nil {
			log.Fatal(err)
		}
	}
}

func choose(ctx context.Context, s agent.Session, model string) error {
	m, ok := s.(agent.ModelSetter)
	if !ok {
		return errors.New("this agent keeps its model")
	}
	_, err := m.SetModel(ctx, model)
	return err
}
