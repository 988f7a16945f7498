package main

const runLong = `Ask an agent one thing and show what it does.

The answer goes to standard output as it comes. Tool calls, thinking, notes and
the line about usage and cost are shown on the terminal; where standard output
is not a terminal they go to standard error, so that standard output is the
answer alone. There the text comes block by block, each when it is finished, so
that nothing is in it that the agent took back; --stream writes it at once.

The prompt is the arguments, joined by spaces. It is read from standard input
when it is "-", or when there is none and standard input is not a terminal. With
a prompt and something on standard input the agent gets the prompt, a blank line,
and the input.

The agent has Claude Code's system prompt. Whatever it would have to ask for is
denied: --permission-mode, --allowed-tools and the settings say what it may do.

Where no claude is installed a simulated agent answers a person at a terminal, and
says so. Nothing is made up for a program: where standard output is not a terminal,
and with --output json, stream-json and --json-schema, that is an error. --agent sim
asks for the simulated agent, which marks every output (a first line, or the member
"simulated"), and --agent replay:DIR plays a recording.

With --agent codex the agent is Codex. Flags that it has nothing for are refused, what
it would have to ask for is declined, JSON output is Parley's own messages, and there is
a cost only where the model has a price. --continue-from hands the conversation of a
session over, of any agent, as the beginning of the prompt of a new session: text, cut to
60 kB, and it is said what was left out.

With --server the prompt goes to a session on a server, a new one or that of --session,
which goes on afterwards. It waits until the turns before it are over. What the agent
asks for in its turn is declined; JSON output is Parley's own messages.

Ctrl-C interrupts the agent and still shows how its turn ended; a second one ends
the program. Work that the agent left in the background is waited for.

Exit codes:
    0  the agent is done
    1  the turn failed, or --timeout was over
    2  the command line makes no sense
    3  the agent's CLI is missing or could not be started
    4  the agent's CLI died
  130  interrupted (Ctrl-C)
  141  the reader of the output is gone
  143  ended by SIGTERM (129 by SIGHUP)

Environment:
  PARLEY_CLI       the agent's CLI, as --cli
  PARLEY_CODEX     that of Codex
  PARLEY_SIM_PACE  milliseconds between two pieces of the simulated agent's text
  NO_COLOR         no colours, as --no-color`

const runExample = `  parley run "Why does this test fail?"
  parley run --permission-mode acceptEdits "Fix the failing test"
  git diff | parley run "Review this change"
  parley run --allowed-tools "Bash(go test:*)" --max-turns 20 < task.md
  parley run --continue "And now the documentation"
  parley run --agent codex "Fix the failing test"
  parley run --agent codex --continue-from 4f1c "Go on with this"
  parley run --output json "List the packages" | jq -r .result
  parley run --json-schema @schema.json "How many files are there?"
  parley run --output stream-json "Explain main.go" > session.jsonl
  parley run --server https://agents.example:7717 "Fix the failing test"
  parley run --session s-0123456789ab "And now the documentation"
  parley run --agent sim "Show me a table"`

const chatLong = `Talk with an agent, many turns, in the terminal.

What the agent writes is rendered as Markdown, block by block; tool calls take a
line each, thinking is dimmed. What is typed while the agent works is queued and
runs when its turn is over. Prompts are kept in a history (up and down), in
$XDG_STATE_HOME/parley/history, readable by its owner alone; one that begins with
a space is not kept. A line that ends with a backslash goes on in the next, and a
paste may have many lines.

Commands of the program: /help, /quit, /model NAME, /mode MODE, /cost, /interrupt,
/queue and /cancel. Other lines that begin with / are commands of the agent's CLI;
Tab completes both. One that neither has is refused; a line that begins with a space
is sent as it is.

Ctrl-C interrupts the agent. Twice within two seconds it ends the conversation, as
Ctrl-D does.

Where standard input or standard output is not a terminal every line of input is a
prompt, sent when the one before has been answered; the answers go to standard
output and all else to standard error, without control sequences.

The agent has Claude Code's system prompt. Before it runs a tool that is not
allowed by --permission-mode, --allowed-tools or the settings it asks: y is yes, a
is yes and always for the like of this call, n is no, with a word why after it. Where
the agent suggests more than that rule, such as a permission mode, all of it is shown,
and "all" takes it. Its questions are answered
by numbers or in your own words, its plans like tools. Without a terminal the next
line of input is the answer; where it is none, or there are no more, it is no.
Without a claude on the machine a simulated agent answers a person at a terminal, and
says so.

Exit codes:
    0  the conversation was ended
    1  without a terminal: the last turn failed
    2  the command line makes no sense
    3  the agent's CLI is missing or could not be started
    4  the agent's CLI died
  130  without a terminal: interrupted (Ctrl-C)
  143  ended by SIGTERM (129 by SIGHUP)

Environment:
  PARLEY_CLI       the agent's CLI, as --cli
  PARLEY_SIM_PACE  milliseconds between two pieces of the simulated agent's text
  NO_COLOR         no colours, as --no-color`

const chatExample = `  parley chat
  parley chat --continue
  parley chat --permission-mode acceptEdits --model sonnet
  parley chat --agent sim
  parley chat --agent replay:testdata/wire/partial-tool
  printf 'What is here?\nAnd why?\n' | parley chat`
