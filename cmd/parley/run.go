package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/spf13/cobra"
)

func newRun(code *int) *cobra.Command {
	flags := &runFlags{}
	cmd := &cobra.Command{
		Use:     "run [flags] [prompt | -]",
		Short:   "Ask an agent one thing and show what it does",
		Long:    runLong,
		Example: runExample,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = flags.run(cmd.Context(), args)
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	flags.register(cmd)
	return cmd
}

// run runs the command and returns the exit code. An error is one of usage.
func (f *runFlags) run(ctx context.Context, args []string) (int, error) {
	opts, err := f.build()
	if err != nil {
		return 0, err
	}
	con := term.NewConsole(term.WantColor(f.noColor, os.Getenv))
	if f.agent == agentCodex {
		return f.runCodex(ctx, con, args)
	}
	agent, err := f.chooseAgent(opts, true, con.Out.TTY)
	if err != nil {
		return 0, err
	}
	note := con.Note
	if f.quiet {
		note = func(string) {}
	}
	if agent.note != "" && (agent.must || !f.quiet) {
		con.Note(agent.note)
	}
	f.listen(opts, con)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, &timeoutError{f.timeout})
		defer cancel()
	}
	sigs := term.WatchSignals(ctx, end, note)
	defer sigs.Stop()

	r := &runner{con: con, out: f.newOutput(con, agent.mark), sigs: sigs}
	prompt, err := f.prompt(ctx, con, args, note)
	if err == nil {
		err = r.run(ctx, opts, prompt)
	}
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	v := judge(err, r.last, sigs.WasInterrupted())
	if v.say != "" {
		con.Complain(v.say)
	}
	return v.code, nil
}

// prompt is what the agent is asked: what was typed, and with --continue-from the conversation
// that it is about.
func (f *runFlags) prompt(ctx context.Context, con *term.Console, args []string, note func(string)) (string, error) {
	text, err := readPrompt(ctx, args, os.Stdin, note)
	if err != nil || f.continued == "" {
		return text, err
	}
	return f.continueFrom(ctx, con, text)
}

// listen passes on, if that is wanted, what the CLI says beside its messages.
func (f *runFlags) listen(o *claude.Options, con *term.Console) {
	o.Logger = slog.New(slog.DiscardHandler)
	if f.verbose {
		o.Stderr = con.Pass
		o.Logger = slog.New(slog.NewTextHandler(con.Err.W, nil))
	}
}

// newOutput is the output that the flags ask for.
func (f *runFlags) newOutput(con *term.Console, mark string) output {
	switch f.output {
	case outputJSON:
		return &resultOutput{to: con.Out, simulated: mark != ""}
	case outputRaw:
		return &rawOutput{to: con.Out, simulated: mark != ""}
	}
	p := newPrinter(con, time.Now)
	p.quiet, p.mark = f.quiet, mark
	p.structured = f.schema != ""
	p.stream, p.thinking = con.Out.TTY, con.Aside().TTY
	if f.changed("stream") {
		p.stream = f.stream
	}
	if f.changed("show-thinking") {
		p.thinking = f.showThinking
	}
	return p
}

// runner runs one prompt to its end.
type runner struct {
	con  *term.Console
	out  output
	sigs *term.Signals
	last *message.Result
}

// run returns what the run ended with. Nothing of it is left when it returns.
func (r *runner) run(ctx context.Context, opts *claude.Options, prompt string) error {
	client, err := claude.Connect(ctx, opts)
	if err != nil {
		return r.refused(err)
	}
	defer client.Close()
	// Before the prompt is sent, so that nothing is missed.
	messages := client.Messages(ctx)
	turn, err := client.Send(ctx, claude.Text(prompt))
	if err != nil {
		return err
	}
	r.sigs.Turn(turn.Cancel)
	var work sync.WaitGroup
	defer work.Wait()
	defer r.leave(client, turn)
	work.Go(func() {
		for range turn.Messages(ctx) {
			// They are shown from the messages of the whole run.
		}
		r.sigs.Turn(nil)
		if ctx.Err() == nil { // else the turn may still be under way
			client.CloseInput()
		}
	})
	for m, err := range messages {
		if err != nil {
			r.out.end()
			return err
		}
		if err := r.show(m); err != nil {
			return err
		}
	}
	r.out.end()
	return r.written()
}

// leave ends the CLI. A turn that is under way is interrupted first: the CLI
// then ends by itself, and what it has done is in its transcript.
func (r *runner) leave(client *claude.Client, turn *claude.Turn) {
	if r.last == nil && !r.sigs.WasInterrupted() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = turn.Cancel(ctx) // Close does the rest
	}
	client.Close()
}

func (r *runner) show(m message.Message) error {
	if result, ok := m.(*message.Result); ok {
		r.last = result
	}
	r.out.message(m)
	return r.written()
}

func (r *runner) written() error {
	if err := r.out.err(); err != nil {
		return term.OutputFailed(err)
	}
	return nil
}

// refused is the error of a CLI that could not be connected to. One that said
// why in a result has that shown; what is wrong with the options is an error of
// usage.
func (r *runner) refused(err error) error {
	if failed, ok := errors.AsType[*message.ResultError](err); ok {
		if werr := r.show(failed.Result); werr != nil {
			return werr
		}
		r.out.end()
		return err
	}
	var (
		notFound  *claude.CLINotFoundError
		spawn     *claude.SpawnError
		handshake *claude.HandshakeError
		signalled *term.SignalError
		timedOut  *timeoutError
	)
	switch {
	case errors.As(err, &notFound), errors.As(err, &spawn), errors.As(err, &handshake), errors.As(err, &signalled), errors.As(err, &timedOut):
		return err
	}
	return &term.UsageError{Text: err.Error(), Plain: true}
}
