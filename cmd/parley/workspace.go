package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/diff"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

// exitConflict is the exit code of a command whose files have changed meanwhile.
const exitConflict = 5

const workspaceCodes = `
Exit codes:
    0  it was done
    1  the server did not answer, or refused
    2  invalid command line
    5  the files are not as was thought: a hunk has changed since, work would be lost, a turn
       runs, or there is nothing to do`

// aboutFiles returns the RunE of a command on files of a server. run returns the response and the
// text to print.
func aboutFiles(code *int, f *remote.Flags, asJSON *bool, run func(ctx context.Context, c *client.Client, args []string) (any, string, error)) func(*cobra.Command, []string) error {
	return onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, args []string) error {
		result, text, err := run(ctx, c, args)
		if client.Reason(err) == api.Conflict {
			*code = exitConflict
		}
		if err != nil {
			return err
		}
		if !*asJSON {
			_, err = io.WriteString(out, text)
			return err
		}
		return term.StandardOutput().EncodeJSON(result)
	})
}

// diffPen returns the pen for a diff.
func diffPen(noColor bool) *term.Pen {
	return term.NewPen(term.StandardOutput(), term.WantColor(noColor, os.Getenv))
}

const diffLong = `Diff shows what a session of a server has changed in its directory, as a unified diff that git
apply and patch take: everything since the base of its workspace or since its first turn,
with --turn what one turn has changed, with --head changes that are not committed. Each hunk has its
id in its heading, for parley workspace revert.
` + workspaceCodes

func newDiff(code *int) *cobra.Command {
	f := &remote.Flags{}
	var p api.WorkspaceDiffParams
	var head, asJSON, stat, noColor bool
	cmd := &cobra.Command{
		Use: "diff [flags] SESSION", Short: "Show the changes of a session", Long: diffLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Example: "  parley diff s-0123456789ab\n  parley diff --turn last s-0123456789ab\n  parley diff s-0123456789ab | git apply --check",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, args []string) (any, string, error) {
		p.SessionID = args[0]
		if head {
			p.Against = "head"
		}
		d, err := diff.Ask(ctx, c, p)
		if err != nil {
			return nil, "", err
		}
		if stat {
			return d, diff.Stat(d), nil
		}
		return d, diff.Text(d, diffPen(noColor)), nil
	})
	cmd.Flags().StringVar(&p.Turn, "turn", "", "changes of one turn, by its id; last is the last turn with changes")
	cmd.Flags().BoolVar(&head, "head", false, "uncommitted changes")
	cmd.Flags().StringVar(&p.Path, "file", "", "show only this file")
	cmd.Flags().BoolVar(&stat, "stat", false, "list the files with their numbers of changed lines")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of workspace.diff as JSON")
	cmd.Flags().BoolVar(&noColor, "no-color", false, "disable colours")
	f.Register(cmd.Flags())
	return cmd
}

func newWorkspace(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "workspace", Short: "List, commit, revert and remove the changes of a server's sessions", Args: term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWorkspaceList(code), newWorkspaceCommit(code), newWorkspaceRevert(code), newWorkspaceRemove(code))
	return cmd
}

func newWorkspaceList(code *int) *cobra.Command {
	f := &remote.Flags{}
	asJSON := false
	cmd := &cobra.Command{Use: "list [flags]", Short: "List the worktrees that were made for sessions", Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, _ []string) (any, string, error) {
		var r api.WorkspaceListResult
		if err := remote.Call(ctx, c, "workspace.list", api.Empty{}, &r); err != nil {
			return nil, "", err
		}
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "WORKSPACE\tBRANCH\tSESSIONS\tPATH\tREPOSITORY")
		for _, ws := range r.Workspaces {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", term.OneLine(ws.ID), term.OneLine(ws.Branch), term.OneLine(strings.Join(ws.Sessions, " ")), term.OneLine(ws.Path), term.OneLine(ws.Repo))
		}
		err := w.Flush()
		return r, b.String(), err
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of workspace.list as JSON")
	f.Register(cmd.Flags())
	return cmd
}

func newWorkspaceCommit(code *int) *cobra.Command {
	f := &remote.Flags{}
	var p api.WorkspaceCommitParams
	asJSON := false
	cmd := &cobra.Command{
		Use: "commit [flags] SESSION", Short: "Commit the changes of a session", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long:    "Commit commits what a session has changed with your git: its hooks run, and it signs as it is\nconfigured. The id of the commit is printed.\n" + workspaceCodes,
		Example: "  parley workspace commit -m \"Fix the test\" s-0123456789ab\n  parley workspace commit -m \"Fix the test\" --trailer --file main.go s-0123456789ab",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, args []string) (any, string, error) {
		p.SessionID, p.Key = args[0], client.Key()
		var r api.WorkspaceCommitResult
		if err := remote.Call(ctx, c, "workspace.commit", p, &r); err != nil {
			return nil, "", err
		}
		return r, term.OneLine(r.Commit) + "\n", nil
	})
	cmd.Flags().StringVarP(&p.Message, "message", "m", "", "message of the commit")
	cmd.Flags().StringArrayVar(&p.Files, "file", nil, "file to commit; repeatable (default: all that the session has changed)")
	cmd.Flags().BoolVar(&p.Trailer, "trailer", false, "name the session in the commit")
	cmd.Flags().BoolVar(&p.Checkout, "checkout", false, "also in your own checkout, if the session has no worktree")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of workspace.commit as JSON")
	_ = cmd.MarkFlagRequired("message") // fails only if the flag does not exist
	f.Register(cmd.Flags())
	return cmd
}

func newWorkspaceRevert(code *int) *cobra.Command {
	f := &remote.Flags{}
	var p api.WorkspaceRevertParams
	var head, asJSON bool
	cmd := &cobra.Command{
		Use: "revert [flags] SESSION FILE", Short: "Revert the changes of a session in a file, or one hunk", Args: term.Arguments(2, 2), DisableFlagsInUseLine: true,
		Long:    "Revert takes a file back to what it was before, or with --hunk one hunk of it; other hunks stay.\nThe diff that is left is printed.\n" + workspaceCodes,
		Example: "  parley workspace revert s-0123456789ab main.go\n  parley workspace revert --hunk 3f2a s-0123456789ab main.go",
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, args []string) (any, string, error) {
		p.SessionID, p.File, p.Key = args[0], args[1], client.Key()
		if head {
			p.Against = "head"
		}
		var d api.WorkspaceDiffResult
		if err := remote.Call(ctx, c, "workspace.revert", p, &d); err != nil {
			return nil, "", err
		}
		return d, diff.Text(d, diffPen(false)), nil
	})
	cmd.Flags().StringVar(&p.Hunk, "hunk", "", "id of the hunk, as parley diff shows it")
	cmd.Flags().StringVar(&p.Turn, "turn", "", "changes of one turn, by its id")
	cmd.Flags().BoolVar(&head, "head", false, "uncommitted changes")
	cmd.Flags().BoolVar(&p.Checkout, "checkout", false, "with --head, also your own changes in your own checkout")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result of workspace.revert as JSON")
	f.Register(cmd.Flags())
	return cmd
}

func newWorkspaceRemove(code *int) *cobra.Command {
	f := &remote.Flags{}
	var p api.WorkspaceRemoveParams
	asJSON := false
	cmd := &cobra.Command{
		Use: "remove [flags] WORKSPACE", Short: "Remove a worktree if no change would be lost", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: "Remove removes a worktree, by its id or by a session that runs in it, and its branch. It refuses\nwhere changes or commits would be lost.\n" + workspaceCodes,
	}
	cmd.RunE = aboutFiles(code, f, &asJSON, func(ctx context.Context, c *client.Client, args []string) (any, string, error) {
		if p.ID = args[0]; strings.HasPrefix(p.ID, "s-") {
			p.ID, p.SessionID = "", args[0]
		}
		return api.Empty{}, "", remote.Call(ctx, c, "workspace.remove", p, nil)
	})
	cmd.Flags().BoolVar(&p.KeepBranch, "keep-branch", false, "keep the branch with its commits")
	cmd.Flags().BoolVar(&p.Force, "force", false, "remove it with all work in it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an empty JSON object")
	f.Register(cmd.Flags())
	return cmd
}
