package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

const nodesLong = `Nodes lists the running servers of a cluster, with the sessions and hosts that each of them owns. Every
server returns the same list. A server that does not report for the time of a lease is no longer listed.

Exit codes:
    0  done
    1  the server did not answer, or refused
    2  invalid command line`

func newNodes(code *int) *cobra.Command {
	f := &remote.Flags{}
	asJSON := false
	cmd := &cobra.Command{
		Use: "nodes [flags]", Short: "List the servers of a cluster, empty one, forget a lost machine", Long: nodesLong, Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley nodes\n  parley nodes --json | jq -r '.nodes[] | select(.sessions > 100).name'\n  parley nodes drain 0123456789ab\n  parley nodes forget workstation",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, _ []string) (any, string, error) {
		var r api.NodesListResult
		if err := remote.Call(ctx, c, "nodes.list", api.Empty{}, &r); err != nil {
			return nil, "", err
		}
		text, err := nodesTable(r.Nodes)
		return r, text, err
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of nodes.list as JSON")
	f.Register(cmd.Flags())
	cmd.AddCommand(newNodesDrain(code), newNodesForget(code))
	return cmd
}

// nodesTable formats the servers as a table.
func nodesTable(all []api.Node) (string, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tMACHINE\tADDRESS\tVERSION\tSTATE\tSESSIONS\tHOSTS\tSEEN")
	for _, n := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", term.OneLine(n.Name), term.OneLine(n.Machine), term.OneLine(n.Address), term.OneLine(n.Version),
			term.OneLine(n.State), n.Sessions, n.Hosts, term.OneLine(n.Seen))
	}
	err := w.Flush()
	return b.String(), err
}

const nodesDrainLong = `Drain moves the sessions and hosts of a server to the other servers of the cluster, and prints the
remaining ones until there are none. The server takes no new sessions; it continues to answer calls, which it forwards, and
stays empty until it is stopped. Idle sessions move first. A running turn continues with its host on another
server of the same machine; without one, drain waits for its end.

Ctrl-C ends the command, not the drain; parley nodes shows the rest.

Exit codes:
    0  the server is empty
    1  the server did not answer, or refused
    2  invalid command line`

func newNodesDrain(code *int) *cobra.Command {
	f := &remote.Flags{}
	noWait := false
	cmd := &cobra.Command{
		Use: "drain [flags] NODE", Short: "Move the sessions of a server to the others", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: nodesDrainLong, Example: "  parley nodes drain 0123456789ab\n  parley nodes drain --no-wait workstation",
	}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, args []string) error {
		name, err := nodeNamed(ctx, c, args[0])
		if err != nil {
			return err
		}
		if err := remote.Call(ctx, c, "nodes.drain", api.NodesDrainParams{Name: name}, nil); err != nil {
			return err
		}
		if noWait {
			fmt.Fprintf(out, "%s is being drained.\n", name)
			return nil
		}
		return awaitDrained(ctx, c, out, name)
	})
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until the server is empty")
	f.Register(cmd.Flags())
	return cmd
}

const nodesForgetLong = `Forget declares a machine of a cluster gone, with the agents that ran on it. Their sessions are repaired as after
a crash and continue on other servers, with the transcript that the cluster has. Use it only if the machine does
not come back soon: an agent that still runs there could change files at the same time as the one that replaces
it. It is ended when a server runs on the machine again.

Exit codes:
    0  the hosts of the machine were removed
    1  the server did not answer, or servers reach all agents of the machine
    2  invalid command line`

func newNodesForget(code *int) *cobra.Command {
	f := &remote.Flags{}
	cmd := &cobra.Command{
		Use: "forget [flags] MACHINE", Short: "Declare a machine gone, so that its sessions continue elsewhere", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: nodesForgetLong, Example: "  parley nodes forget workstation",
	}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, args []string) error {
		var r api.NodesForgetResult
		if err := remote.Call(ctx, c, "nodes.forget", api.NodesForgetParams{Machine: args[0]}, &r); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d hosts of %s were removed.\n", r.Hosts, term.OneLine(args[0]))
		return nil
	})
	f.Register(cmd.Flags())
	return cmd
}

// nodeNamed returns the name of a server, which is given by its name or that of its machine.
func nodeNamed(ctx context.Context, c *client.Client, name string) (string, error) {
	var r api.NodesListResult
	if err := remote.Call(ctx, c, "nodes.list", api.Empty{}, &r); err != nil {
		return "", err
	}
	var found []string
	for _, n := range r.Nodes {
		if n.Name == name {
			return name, nil
		}
		if n.Machine == name {
			found = append(found, n.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no server %q of the cluster runs; parley nodes lists them", name)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("machine %q has several servers: %s", name, strings.Join(found, ", "))
}

// drainLook is the interval at which drain checks the server.
const drainLook = 500 * time.Millisecond

// awaitDrained prints how many sessions a server still has, until it has none left or ends.
func awaitDrained(ctx context.Context, c *client.Client, out io.Writer, name string) error {
	ticker := time.NewTicker(drainLook)
	defer ticker.Stop()
	shown := ""
	for {
		var r api.NodesListResult
		if err := remote.Call(ctx, c, "nodes.list", api.Empty{}, &r); err != nil {
			return err
		}
		text := name + " has ended."
		drained := true
		for _, n := range r.Nodes {
			if n.Name != name {
				continue
			}
			drained, text = n.State == api.NodeDrained, name+" is empty."
			if !drained {
				text = fmt.Sprintf("%s has %d sessions and %d hosts.", name, n.Sessions, n.Hosts)
			}
		}
		if text != shown {
			fmt.Fprintln(out, text)
			shown = text
		}
		if drained {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: the drain continues; parley nodes shows the remaining sessions", context.Cause(ctx))
		}
	}
}
