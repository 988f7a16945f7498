package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/internal/textfile"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/budget"
)

// Settings are the settings of parley serve. Each has a flag, a variable PARLEY_<FLAG> and
// a member of the configuration file with the flag's name; the flag takes precedence, then
// the variable, then the file.
type Settings struct {
	Version      string // of the program
	PrintConfig  bool
	Data         string
	DrainTimeout time.Duration

	config, listen                                                                 string
	agents, dirs, allowedHosts, allowedOrigins, proxies, passEnv, trustGit, limits []string
	tlsCert, tlsKey                                                                string
	insecure, allowBypass                                                          bool
	nats, natsCredentials, natsCA, secretKeyFile                                   string
	natsReplicas                                                                   int
	quotaMB                                                                        int64
	model, mode, cli                                                               string
	maxAgents, maxSessions, maxConnections                                         int
	idleTimeout                                                                    time.Duration
	stallNotify, stallInterrupt, stallKill                                         time.Duration
	logLevel, logFormat                                                            string
	budgets                                                                        []string
	turnReserve                                                                    budget.Amount
	prices                                                                         string
	apiKeyFile, apiUpstream                                                        string
	webhookNetworks                                                                []string
	hookCommand, metricsListen                                                     string
	otel                                                                           bool
	tenantDirs                                                                     []string
	push, preview, keep                                                            bool
	pushContact, previewListen, previewURL                                         string
	host, noHost, replace                                                          bool
	ssh                                                                            []string
	orphanTimeout                                                                  time.Duration
	box                                                                            boxFlags
}

// Register adds the flags.
func (f *Settings) Register(p *pflag.FlagSet) {
	p.StringVar(&f.listen, "listen", "127.0.0.1:7717", "address to serve on")
	p.StringVar(&f.Data, "data", remote.DefaultData(), "directory for logs, tokens and uploads")
	p.StringArrayVar(&f.agents, "agent", nil, "agent for sessions, the first by default; repeatable (default: all that are installed)")
	p.StringArrayVar(&f.dirs, "dir", nil, "directory in which, and below which, sessions may run; repeatable (default: the current one)")
	p.StringVar(&f.model, "model", "", "model of new sessions")
	p.StringVar(&f.cli, "cli", "", "the claude program (default $PARLEY_CLI, else the installed one)")
	p.StringVar(&f.mode, "permission-mode", "", "permission mode of new sessions (default: default, or an ACP agent's own)")
	p.BoolVar(&f.allowBypass, "allow-bypass", false, "let sessions run without asking for permissions")
	f.box.register(p)
	p.BoolVar(&f.keep, "keep-children", false, agents.KeepHelp)
	p.StringArrayVar(&f.passEnv, "pass-env", nil, "further variable that agents get; NAME* is a prefix; repeatable")
	p.StringArrayVar(&f.allowedHosts, "allowed-host", nil, "host name that requests may use in addition to loopback ones; repeatable")
	p.StringArrayVar(&f.allowedOrigins, "allowed-origin", nil, "origin of a page that may call the server, as scheme://host; repeatable")
	p.StringArrayVar(&f.proxies, "trusted-proxy", nil, "address or network of a proxy with a trusted X-Forwarded-For; repeatable")
	p.StringArrayVar(&f.trustGit, "trust-git", nil, "hash, as printed in the log, of programs in a repository's git configuration that git may run; repeatable")
	p.StringVar(&f.tlsCert, "tls-cert", "", "file with the certificate; with --tls-key")
	p.StringVar(&f.tlsKey, "tls-key", "", "file with the key of the certificate")
	p.BoolVar(&f.insecure, "insecure", false, "serve other machines without TLS")
	p.IntVar(&f.maxAgents, "max-agents", server.DefaultMaxAgents, "maximum number of concurrent agents")
	p.IntVar(&f.maxSessions, "max-sessions", server.DefaultMaxSessions, "maximum number of sessions")
	p.IntVar(&f.maxConnections, "max-connections", server.DefaultMaxConnections, "maximum number of open sockets and streams")
	p.DurationVar(&f.idleTimeout, "idle-timeout", server.DefaultIdleTimeout, "time after which an idle agent is ended; its session resumes automatically")
	p.DurationVar(&f.DrainTimeout, "drain-timeout", server.DefaultDrainTimeout, "time that running turns have when the server stops")
	p.BoolVar(&f.host, "host", false, "run agents in a process that outlives the server, even if that is not the default: a crash, SIGTERM and an upgrade do not end them")
	p.BoolVar(&f.noHost, "no-host", false, "end agents with the server, including those of an earlier server; the default on Windows, in containers without an init, and with an API key")
	p.BoolVar(&f.replace, "replace", false, "replace the server that runs on the same data, and take over its port, sessions and agents")
	p.DurationVar(&f.orphanTimeout, "orphan-timeout", 0, "time that an agent of --host runs without a server (default 24h, with a budget 10m)")
	p.StringArrayVar(&f.ssh, "ssh", nil, "machine to run agents on over ssh, as user@machine[,name=NAME][,dir=DIR][,max-mode=MODE][,slots=N][,label=TEXT][,cli=PROGRAM][,data=DIR][,pass-env=NAME][,sandbox=bwrap]; repeatable")
	p.DurationVar(&f.stallNotify, "stall-notify", 3*time.Minute, "time after which a silent turn is reported; 0 is never")
	p.DurationVar(&f.stallInterrupt, "stall-interrupt", 0, "time after which a silent turn is interrupted; 0 is never")
	p.DurationVar(&f.stallKill, "stall-kill", 0, "time after which a silent agent is ended; 0 is never")
	p.StringVar(&f.apiKeyFile, "api-key-file", "", "file with an API key that agents use without access to it; PARLEY_API_KEY holds the key itself")
	p.StringVar(&f.apiUpstream, "api-upstream", "", "address to which requests with that key are sent (default: Anthropic's API)")
	p.StringArrayVar(&f.budgets, "budget", nil, "limit such as \"scope=tenant period=day usd=20\"; see docs/budgets.md; repeatable")
	p.Float64Var(&f.turnReserve.USD, "turn-reserve", server.DefaultTurnReserveUSD, "minimum that a turn reserves of its budgets, in dollars; a turn waits while others have reserved the rest")
	p.Int64Var(&f.turnReserve.Tokens, "turn-reserve-tokens", server.DefaultTurnReserveTokens, "the same for budgets in tokens")
	p.StringArrayVar(&f.tenantDirs, "tenant-dir", nil, "NAME=DIR: where agents of a tenant keep configuration, login and history (default: in --data); repeatable")
	p.StringVar(&f.prices, "prices", "", "file with prices of models, which override the built-in ones")
	p.StringArrayVar(&f.webhookNetworks, "webhook-network", nil, "network that webhooks may call although it is not public, such as 10.0.0.0/8; repeatable")
	p.StringVar(&f.hookCommand, "hook-command", "", "program to run for each event, with the event as JSON on standard input")
	p.StringVar(&f.metricsListen, "metrics-listen", "", "additional address for /metrics, without a token; loopback or with --insecure")
	p.BoolVar(&f.otel, "otel", false, "export spans of requests, turns and tools by OTLP; the variables OTEL_* configure it")
	p.BoolVar(&f.push, "push", false, "send Web Push messages to browsers that subscribe")
	p.StringVar(&f.pushContact, "push-contact", "", "contact address for push services, mailto: or https:; some require it")
	p.BoolVar(&f.preview, "preview", true, "show the servers that agents start, each on a separate origin")
	p.StringVar(&f.previewListen, "preview-listen", "127.0.0.1:0", "address for previews; a range of ports gives each its own")
	p.StringVar(&f.previewURL, "preview-url", "", "address at which browsers reach previews, such as https://*.preview.example.org (default: by --preview-listen)")
	p.StringVar(&f.nats, "nats", "", "NATS server or cluster that stores the logs instead of the data directory")
	p.StringVar(&f.natsCredentials, "nats-credentials", "", "credentials file for --nats")
	p.StringVar(&f.natsCA, "nats-ca", "", "certificate authorities for --nats")
	p.IntVar(&f.natsReplicas, "nats-replicas", 1, "copies that the cluster keeps")
	p.StringVar(&f.secretKeyFile, "secret-key-file", "", "file with the secret that servers on one NATS cluster share, 32 random bytes or more")
	p.Int64Var(&f.quotaMB, "quota-mb", 10<<10, "limit of the logs on disk, in megabytes")
	p.StringArrayVar(&f.limits, "limit-mb", nil, "KIND=MB: delete the oldest logs, uploads or worktrees beyond this; repeatable (default: no limit)")
	p.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	p.StringVar(&f.logFormat, "log-format", "text", "text or json, on standard error")
	p.StringVar(&f.config, "config", "", "file with settings, a JSON object by flag name")
	p.BoolVar(&f.PrintConfig, "print-config", false, "print the effective settings and exit")
}

// variable returns the environment variable of a flag.
func variable(flag string) string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// home returns the location of the files of agents in sessions without a tenant.
func (f *Settings) home() agents.Place {
	archive, err := remote.DefaultArchive()
	if err != nil {
		archive = "" // no archive is offered
	}
	return agents.Place{Data: f.Data, Env: server.AgentEnv(os.Environ(), f.passEnv), CLI: f.cli, Archive: archive, Keep: f.keep}
}

// notSettings are flags that are valid only on the command line.
var notSettings = []string{"config", "print-config", "help"}

// Load sets flags that are not on the command line from the environment and the file.
func (f *Settings) Load(p *pflag.FlagSet, getenv func(string) (string, bool)) error {
	if f.config == "" {
		f.config, _ = getenv(variable("config"))
	}
	file := map[string]json.RawMessage{}
	if f.config != "" {
		data, err := textfile.Read(f.config)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return fmt.Errorf("%s: %w", f.config, err)
		}
	}
	var failed error
	p.VisitAll(func(flag *pflag.Flag) {
		raw, inFile := file[flag.Name]
		delete(file, flag.Name)
		if flag.Changed || slices.Contains(notSettings, flag.Name) {
			return
		}
		if value, ok := getenv(variable(flag.Name)); ok {
			failed = errors.Join(failed, setFlag(p, flag, strings.Split(value, ","), variable(flag.Name)))
		} else if inFile {
			values, err := settingValues(raw)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %s: %w", f.config, flag.Name, err))
				return
			}
			failed = errors.Join(failed, setFlag(p, flag, values, f.config))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(file)) {
		failed = errors.Join(failed, fmt.Errorf("%s: unknown setting %q", f.config, name))
	}
	return failed
}

// setFlag sets a flag from another source. Only a list accepts several values.
func setFlag(p *pflag.FlagSet, flag *pflag.Flag, values []string, from string) error {
	if flag.Value.Type() != "stringArray" {
		values = []string{strings.Join(values, ",")}
	}
	for _, v := range values {
		if err := p.Set(flag.Name, v); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return nil
}

// settingValues returns the values of a member: one, or a list.
func settingValues(raw json.RawMessage) ([]string, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var values []string
	for _, x := range list {
		switch x := x.(type) {
		case string:
			values = append(values, x)
		case bool, float64:
			values = append(values, fmt.Sprint(x))
		default:
			return nil, errors.New("it is neither a string, a number, a boolean nor a list of them")
		}
	}
	return values, nil
}

// Print writes the effective settings as a configuration file.
func (f *Settings) Print(p *pflag.FlagSet, w io.Writer) error {
	settings := map[string]any{}
	p.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(notSettings, flag.Name) {
			return
		}
		switch flag.Value.Type() {
		case "stringArray":
			list, _ := p.GetStringArray(flag.Name) // it is one
			settings[flag.Name] = append([]string{}, list...)
		case "bool", "int", "int64":
			settings[flag.Name] = json.RawMessage(flag.Value.String())
		default:
			settings[flag.Name] = flag.Value.String()
		}
	})
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(settings)
}
