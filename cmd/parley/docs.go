package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/docs/site"
)

const docsLong = `Docs serves the documentation on a loopback address, prints the address and opens it in the
browser if standard output is a terminal. Ctrl-C ends it. The pages are part of the program;
a running "parley serve" has them at /docs/.

With --out it writes the pages as files into a directory and exits.

Exit codes:
    1  the address cannot be used, or the files cannot be written
    2  invalid command line
  130  interrupted (Ctrl-C)`

// newDocs returns the command that serves the documentation.
func newDocs(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "docs [flags]", Short: "Read the documentation in the browser", Long: docsLong, Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley docs\n  parley docs --no-open\n  parley docs --out public",
	}
	out := cmd.Flags().String("out", "", "write the pages into this directory and exit")
	listen := cmd.Flags().String("listen", "127.0.0.1:0", "loopback address to serve on")
	noOpen := cmd.Flags().Bool("no-open", false, "do not open the browser")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		*code, err = term.Run(cmd.Context(), false, func(ctx context.Context, con *term.Console) error {
			if *out != "" {
				return site.Write(*out)
			}
			return serveDocs(ctx, con, *listen, !*noOpen && con.Out.TTY)
		})
		return err
	}
	return cmd
}

// serveDocs serves the documentation until ctx ends.
func serveDocs(ctx context.Context, con *term.Console, address string, open bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return term.Usagef("--listen %s: %v", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return term.Usagef("--listen %s is not a loopback address", address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/docs/", site.Handler("/docs/"))
	mux.Handle("/", http.RedirectHandler("/docs/", http.StatusFound))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	url := "http://" + l.Addr().String() + "/docs/"
	con.Out.Print("The documentation is at " + url + "\nCtrl-C ends it.\n")
	if open {
		openBrowser(ctx, url)
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("docs: %w", err)
	}
	return ctx.Err()
}

// openBrowser opens an address in the user's browser. If that fails, the user can open the printed
// address.
func openBrowser(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // a browser that does not open is not an error
	}
}
