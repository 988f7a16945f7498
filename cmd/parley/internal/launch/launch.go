// Package launch starts the conversation of parley run and parley chat: it checks their flags,
// selects the agent and builds its options.
package launch

import (
	"context"
	"os"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/chat"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// Run runs parley run and returns the exit code. An error is a usage error.
func (f *Flags) Run(ctx context.Context, args []string) (int, error) {
	o, err := f.prepare(true)
	if err != nil {
		return 0, err
	}
	o.Prompt = func(ctx context.Context, note func(string)) (string, error) {
		text, err := chat.ReadPrompt(ctx, args, os.Stdin, note)
		if err != nil || f.continued == "" {
			return text, err
		}
		return history.HandOver(ctx, o.Console, f.continued, text)
	}
	return chat.Run(ctx, *o)
}

// Talk runs parley chat and returns the exit code. An error is a usage error.
func (f *Flags) Talk(ctx context.Context) (int, error) {
	o, err := f.prepare(false)
	if err != nil {
		return 0, err
	}
	if f.continued != "" {
		o.Prompt = func(ctx context.Context, _ func(string)) (string, error) {
			return history.HandOver(ctx, o.Console, f.continued, "")
		}
	}
	return chat.Talk(ctx, *o)
}

// prepare makes the options of a conversation from the flags. An error is a usage error.
func (f *Flags) prepare(run bool) (*chat.Options, error) {
	opts, err := f.build()
	if err != nil {
		return nil, err
	}
	con := term.NewConsole(term.WantColor(f.noColor, os.Getenv))
	_, typed := term.TerminalWidth(os.Stdin)
	f.listen(opts, con)
	a, err := f.choose(opts, con, run, con.Out.TTY && (run || typed))
	if err != nil {
		return nil, err
	}
	o := &chat.Options{Console: con, Agent: a, Output: f.output, Timeout: f.timeout, Quiet: f.quiet, Structured: f.schema != ""}
	if f.changed("stream") {
		o.Stream = &f.stream
	}
	if f.changed("show-thinking") {
		o.Thinking = &f.showThinking
	}
	return o, nil
}

// listen passes on the CLI's standard error, if that is enabled.
func (f *Flags) listen(o *claude.Options, con *term.Console) {
	o.Logger = f.logger(con)
	if f.verbose {
		o.Stderr = con.Pass
	}
}
