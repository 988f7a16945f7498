package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

const machinesLong = `Machines lists the machines that have joined a server since its start, with their agents and the
directories that they offer. A machine joins with parley host join.

Exit codes:
    0  done
    1  the server did not answer, or refused
    2  invalid command line`

func newMachines(code *int) *cobra.Command {
	f := &remote.Flags{}
	asJSON := false
	cmd := &cobra.Command{
		Use: "machines [flags]", Short: "List the machines of a server, and revoke their tokens", Long: machinesLong, Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley machines\n  parley machines --json | jq -r '.machines[] | select(.state == \"unreachable\").name'\n  parley machines revoke workstation",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, _ []string) (any, string, error) {
		var r api.MachinesListResult
		if err := remote.Call(ctx, c, "machines.list", api.Empty{}, &r); err != nil {
			return nil, "", err
		}
		noneListed(len(r.Machines), "no machine has joined; parley host join adds one")
		text, err := machinesTable(r.Machines)
		return r, text, err
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of machines.list as JSON")
	f.Register(cmd.Flags())
	cmd.AddCommand(newMachinesRevoke(code))
	return cmd
}

// machinesTable formats the machines as a table.
func machinesTable(all []api.Machine) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tSTATE\tSINCE\tAGENTS\tDIRECTORIES\tLABELS")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", term.OneLine(m.Name), term.OneLine(m.State), term.OneLine(m.Since), term.OneLine(strings.Join(m.Agents, " ")),
			term.OneLine(strings.Join(m.Directories, " ")), term.OneLine(strings.Join(m.Labels, " ")))
	}
	err := w.Flush()
	return b.String(), err
}

func newMachinesRevoke(code *int) *cobra.Command {
	f := &remote.Flags{}
	asJSON := false
	cmd := &cobra.Command{
		Use: "revoke [flags] MACHINE", Short: "Revoke the token of a machine, and end its link", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long:    "Revoke revokes the token with which a machine has joined. Its link closes at once, and the\nmachine cannot join again with it. Its agents end 24 hours later.",
		Example: "  parley machines revoke workstation",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, args []string) (any, string, error) {
		var r api.MachinesListResult
		if err := remote.Call(ctx, c, "machines.list", api.Empty{}, &r); err != nil {
			return nil, "", err
		}
		for _, m := range r.Machines {
			if m.Name != args[0] {
				continue
			}
			err := remote.Call(ctx, c, "tokens.revoke", api.TokensRevokeParams{ID: m.Token}, nil)
			return m, fmt.Sprintf("revoked the token of %s; its link is closed\n", term.OneLine(m.Name)), err
		}
		return nil, "", fmt.Errorf("machine %q not found; parley machines lists those that have joined", args[0])
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the machine as JSON")
	f.Register(cmd.Flags())
	return cmd
}
