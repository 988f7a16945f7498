package webserver

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"github.com/seed7221b0f9/parley/docs/site"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
)

// flags are the flags with which the suite starts the program.
type flags struct {
	dir, work, addr, corpus, cli, script, dev, codex, adapter string
	codexCorpus, acpCorpus                                    string
	git, push, demo, api                                      bool
	hosts                                                     []string
}

// TestMain runs the program if it gets a directory, and the tests otherwise.
func TestMain(m *testing.M) {
	var f flags
	flag.StringVar(&f.dir, "dir", "", "where the store, the tokens and the sessions are")
	flag.StringVar(&f.work, "work", "", "where sessions run (default: project below -dir)")
	flag.StringVar(&f.addr, "addr", "127.0.0.1:0", "where to listen")
	flag.StringVar(&f.corpus, "corpus", "", "the recordings that the prompt replay NAME plays")
	flag.StringVar(&f.codexCorpus, "codex-corpus", "", "the recordings of Codex: folders of scenarios, separated by commas")
	flag.StringVar(&f.acpCorpus, "acp-corpus", "", "the recordings of agents of the Agent Client Protocol")
	flag.StringVar(&f.cli, "cli", "", "the Claude CLI; it is offered as the agent claude")
	flag.StringVar(&f.script, "script", "", "what the fake API says to that CLI")
	flag.StringVar(&f.dev, "dev", "", "command that the agent developer starts as its server, with previews and push messages")
	flag.StringVar(&f.codex, "codex", "", "the Codex CLI; it is offered as the agent codex, with a scripted model")
	flag.StringVar(&f.adapter, "adapter", "", "the modules of claude-agent-acp; it is offered as that agent, with the CLI of -cli and a scripted model")
	flag.BoolVar(&f.demo, "demo", false, "offer only the simulated agent of the product")
	flag.BoolVar(&f.api, "api", false, "serve only the fake API of -script; the output is the environment of the CLI")
	flag.BoolVar(&f.push, "push", false, "send push messages")
	flag.Func("host", "name under which other machines reach the server; repeatable", func(name string) error {
		f.hosts = append(f.hosts, name)
		return nil
	})
	flag.BoolVar(&f.git, "git", false, "make the project a git repository, if it is none")
	flag.Parse()
	if f.dir == "" {
		os.Exit(m.Run())
	}
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "webserver:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// recordings returns the folders of all recordings.
func (f flags) recordings() recordings {
	return recordings{wire: f.corpus, codex: f.codexCorpus, acp: f.acpCorpus}
}

func run(f flags) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // the suite holds the other end
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if f.work == "" {
		f.work = filepath.Join(f.dir, "project")
	}
	if err := furnish(f); err != nil {
		return err
	}
	if f.api {
		return serveAPI(ctx, f)
	}
	providers, end, err := providers(f)
	if err != nil {
		return err
	}
	defer end()
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(f.dir, "store")})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close(context.Background()) }()
	opts := server.Options{
		Docs: site.Handler("/docs/"), Providers: providers, Simulated: f.codex == "", Store: store, Dir: filepath.Join(f.dir, "server"), Directories: []string{f.work},
		DrainTimeout: time.Second, MaxAgents: 500, AllowedHosts: f.hosts, Push: f.push,
	}
	var shown net.Listener
	if f.dev != "" {
		if shown, err = f.develop(&opts); err != nil {
			return err
		}
	}
	s, err := server.New(ctx, opts)
	if err != nil {
		return err
	}
	if shown != nil {
		go func() { _ = s.ServePreview(ctx, shown) }()
	}
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		return err
	}
	token, err := s.PrintedToken(l.Addr())
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/#token=%s\n", l.Addr(), token)
	return s.Serve(ctx, l)
}

// furnish creates the project of the sessions.
func furnish(f flags) error {
	if err := os.MkdirAll(filepath.Join(f.dir, "sim"), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(f.work, ".git", "HEAD")); err == nil {
		return nil // an earlier server has created it
	}
	for _, name := range []string{"README.md", "main.go", "upload/retry.go", "upload/retry_test.go"} {
		name = filepath.Join(f.work, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte("text\n"), 0o600); err != nil {
			return err
		}
	}
	if !f.git {
		return nil
	}
	return makeRepo(f.work)
}

// providers returns the agents: scenes first, then the simulated one, and the real one if
// there is a CLI.
func providers(f flags) ([]agent.Provider, func(), error) {
	if f.demo {
		return []agent.Provider{&simagent.Provider{Dir: filepath.Join(f.dir, "sim"), Pace: time.Millisecond, Project: true}}, func() {}, nil
	}
	if f.codex != "" {
		return otherAgents(f)
	}
	list := []agent.Provider{&stage{f.recordings(), filepath.Join(f.dir, "forget")}, &agenttest.Provider{Dir: filepath.Join(f.dir, "sim"), Pause: 5 * time.Millisecond}}
	if f.cli == "" {
		return list, func() {}, nil
	}
	p, end, err := realCLI(f.dir, f.work, f.cli, f.script)
	return append(list, p), end, err
}
