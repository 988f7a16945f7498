package main

const runLong = `Send one prompt to an agent and print the answer.

The answer is written to standard output as it arrives. Tool calls, thinking, notes
and the line about usage and cost go to the terminal. If standard output is not a
terminal, they go to standard error, and standard output has the answer only. The
text is then written block by block, each when it is complete, so that it contains
no text that the agent took back; --stream writes it at once.

The prompt is the arguments, joined by spaces. It is read from standard input if it
is "-", or if there are no arguments and standard input is not a terminal. With both
a prompt and standard input the agent gets the prompt, a blank line, and the input.

The agent uses Claude Code's system prompt. Requests for permission are denied:
--permission-mode, --allowed-tools and the settings determine what the agent may do.

If no claude is installed, a simulated agent answers at a terminal and the output says
so. For programs this is an error: if standard output is not a terminal, and with
--output json, stream-json and --json-schema. --agent sim selects the simulated agent,
which marks every output (a first line, or the member "simulated"); --agent replay:DIR
plays a recording.

With --agent codex the agent is Codex. Flags that Codex does not support are errors,
requests for permission are declined, JSON output has the messages of Parley, and a cost
is shown only if the model has a price. --continue-from starts the prompt of a new
session with the conversation of another session, of any agent: text, cut to 60 kB, with
a note about what was left out.

With --server the prompt goes to a session on a server: a new one, or the one of
--session, which continues to exist. It waits until the turns before it have ended.
Requests of the agent in its turn are declined; JSON output has the messages of Parley.

Ctrl-C interrupts the agent and shows how its turn ended; a second one ends the program.
The command waits for work that the agent left in the background.

Exit codes:
    0  the turn succeeded
    1  the turn failed, or --timeout expired
    2  invalid command line
    3  the agent's CLI is missing or could not be started
    4  the agent's CLI died
  130  interrupted (Ctrl-C)
  141  the reader of the output has closed it
  143  ended by SIGTERM (129 by SIGHUP)

Environment:
  PARLEY_CLI       the CLI of Claude Code, like --cli
  PARLEY_CODEX     the CLI of Codex
  PARLEY_SIM_PACE  milliseconds between two pieces of the simulated agent's text
  NO_COLOR         disables colours, like --no-color`

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

Answers are rendered as Markdown, block by block; each tool call takes one line, and
thinking is dimmed. Prompts that are typed while the agent works are queued. Prompts
are kept in a history (up and down), in $XDG_STATE_HOME/parley/history, which only its
owner can read; a prompt that begins with a space is not kept. A line that ends with a
backslash continues on the next line, and a paste may have many lines.

Commands of the program: /help, /quit, /model NAME, /mode MODE, /cost, /interrupt,
/queue and /cancel. Other lines that begin with / are commands of the agent; Tab
completes both. Unknown commands are errors; a line that begins with a space is sent
unchanged.

Ctrl-C interrupts the agent. Twice within two seconds it ends the conversation, like
Ctrl-D.

If standard input or standard output is not a terminal, every line of input is a
prompt, which is sent after the answer to the previous one; answers go to standard
output and everything else to standard error, without control sequences.

The agent uses Claude Code's system prompt. It asks before it runs a tool that
--permission-mode, --allowed-tools or the settings do not allow: y allows the call, a
allows it and calls like it from now on, n denies it, optionally followed by a reason.
If the agent suggests more than that rule, such as a permission mode, all of it is
shown, and "all" accepts it. Questions are answered by numbers or with a text, plans
like tools. Without a terminal the next line of input is the answer; anything else, or
the end of the input, means no. If no claude is installed, a simulated agent answers at
a terminal and the output says so.

With --server the conversation is a new session on a server, of the agent that --agent
names there. It continues to exist when chat ends; parley attach joins it again.

Exit codes:
    0  the conversation ended
    1  without a terminal: the last turn failed
    2  invalid command line
    3  the agent's CLI is missing or could not be started
    4  the agent's CLI died
  130  without a terminal: interrupted (Ctrl-C)
  143  ended by SIGTERM (129 by SIGHUP)

Environment:
  PARLEY_CLI       the CLI of Claude Code, like --cli
  PARLEY_SIM_PACE  milliseconds between two pieces of the simulated agent's text
  NO_COLOR         disables colours, like --no-color`

const chatExample = `  parley chat
  parley chat --continue
  parley chat --permission-mode acceptEdits --model sonnet
  parley chat --agent sim
  parley chat --agent replay:testdata/wire/partial-tool
  printf 'What is here?\nAnd why?\n' | parley chat`
