package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agentcheck"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const agentsLong = `Agents lists the named agents of the Agent Client Protocol. run, chat, acp and serve
accept the names as --agent, and serve offers all installed agents.

Exit codes:
    0  done
    1  a check failed, or a file cannot be read or written
    2  invalid command line
  130  interrupted (Ctrl-C)`

func newAgents(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agents", Short: "List, add and check agents that speak the Agent Client Protocol", Long: agentsLong, Args: term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentsList(code), newAgentsAdd(code), newAgentsCheck(code))
	return cmd
}

func newAgentsList(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [flags]", Short: "List the named agents, and which of them are installed", Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley agents list",
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON array")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := agents.Registry()
		if err == nil && *asJSON {
			err = term.StandardOutput().EncodeJSON(list)
		} else if err == nil {
			err = writeAgents(cmd.OutOrStdout(), list)
		}
		failed(code, err)
		return nil
	}
	return cmd
}

// writeAgents writes a table.
func writeAgents(out io.Writer, list []agents.Known) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tAGENT\tCOMMAND\tINSTALLED\tLOGIN")
	for i := range list {
		k := &list[i]
		path := k.Path()
		if path == "" {
			path = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.Name, k.Title, strings.Join(k.Command, " "), path, strings.Join(k.Login, " "))
	}
	return w.Flush()
}

func newAgentsAdd(code *int) *cobra.Command {
	var k agents.Known
	var env []string
	var login string
	cmd := &cobra.Command{
		Use: "add [flags] NAME COMMAND [ARGUMENT]...", Short: "Name an agent, or change its command", DisableFlagsInUseLine: true,
		Example: "  parley agents add mine /opt/mine/agent --acp\n  parley agents add --env MINE_KEY=x --login \"mine login\" mine mine acp",
		Args:    term.Arguments(2, 64),
		RunE: func(_ *cobra.Command, args []string) error {
			k.Name, k.Command, k.Login = args[0], args[1:], strings.Fields(login)
			for _, entry := range env {
				name, value, ok := strings.Cut(entry, "=")
				if !ok || name == "" {
					return term.Usagef("--env %s: it is NAME=VALUE", entry)
				}
				if k.Env == nil {
					k.Env = map[string]string{}
				}
				k.Env[name] = value
			}
			err := agents.Add(k)
			if _, usage := err.(*term.UsageError); usage {
				return err
			}
			failed(code, err)
			return nil
		},
	}
	cmd.Flags().SetInterspersed(false) // arguments after the name belong to the agent
	cmd.Flags().StringVar(&k.Title, "title", "", "the `name` for people")
	cmd.Flags().StringArrayVar(&env, "env", nil, "a variable of its environment, as `NAME=VALUE`")
	cmd.Flags().StringVar(&login, "login", "", "the `command` with which a person logs in")
	return cmd
}

// checkPrompts are prompts that make most agents do what the checks need.
var checkPrompts = agentcheck.Prompts{
	Say:  "Reply with two short sentences about the weather. Use no tools.",
	Tool: "Run exactly this shell command, and nothing else: touch parley-check.txt",
	Wait: "Write the numbers from 1 to 5000 as words, one in each line. Use no tools.",
}

func newAgentsCheck(code *int) *cobra.Command {
	timeout := 2 * time.Minute
	cmd := &cobra.Command{
		Use: "check [flags] NAME", Short: "Run an agent and check that it works with parley", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: "Check starts an installed agent in an empty directory, makes it answer, ask for permission and stop, and prints a table. It\nuses the agent's login and its model: a few short requests. " +
			"The agent is claude, codex, sim, acp:COMMAND or a name of\nparley agents list.",
		Example: "  parley agents check opencode\n  parley agents check \"acp:mine --acp\"",
	}
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "time limit of each step")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, end := context.WithCancelCause(cmd.Context())
		defer end(nil)
		defer term.WatchSignals(ctx, end, func(string) {}).Stop()
		err := checkNamed(ctx, cmd.OutOrStdout(), args[0], timeout)
		if usage, ok := errors.AsType[*term.UsageError](err); ok {
			return usage
		}
		if sig, ok := errors.AsType[*term.SignalError](err); ok {
			*code = sig.Code()
			return nil
		}
		failed(code, err)
		return nil
	}
	return cmd
}

// checkNamed checks the agent with this name in temporary directories.
func checkNamed(ctx context.Context, out io.Writer, name string, timeout time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "parley-check-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil {
			err = gone
		}
	}()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	set, err := agents.Choose([]string{name}, agents.Place{Data: filepath.Join(dir, "data"), Env: os.Environ()}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	err = checkAgent(ctx, out, agentcheck.Subject{Provider: set.Providers[0], Options: agent.Options{Dir: work}, Prompts: checkPrompts, Timeout: timeout})
	return errors.Join(err, set.Close())
}

// describer is a provider that can describe its agent.
type describer interface {
	Describe(ctx context.Context, opts agent.Options) (acpagent.Description, error)
}

// checkAgent runs the checks and prints a row when each ends. The error contains the number of
// failed checks.
func checkAgent(ctx context.Context, out io.Writer, subject agentcheck.Subject) error {
	if d, ok := subject.Provider.(describer); ok {
		starting, cancel := context.WithTimeout(ctx, subject.Timeout)
		is, err := d.Describe(starting, subject.Options)
		cancel()
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		fmt.Fprintf(out, "%s %s\n", is.Title, is.Version)
	}
	bad, all := 0, agentcheck.Checks()
	for i, c := range all {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "%-14s", c.Name) // shown while the check runs
		r := c.Result(ctx, subject)
		fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%-9s%s", r.Status, r.Text)))
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if r.Status == agentcheck.Failed {
			bad++
		}
		if bad > 0 && i == 0 { // each other check would fail for the same reason
			return fmt.Errorf("the agent does not answer a prompt; %d further checks were not run", len(all)-1)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d checks failed", bad)
	}
	return nil
}
