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

Ctrl-C interrupts the agent and still shows how its turn ended; a second one ends
the program. Work that the agent left in the background is waited for.

Exit codes:
    0  the agent is done
    1  the turn failed, or --timeout was over
    2  the command line makes no sense
    3  the agent's CLI is missing or could not be started
    4  the agent's CLI died
  130  interrupted (Ctrl-C)
  141  nobody reads the output any more
  143  ended by SIGTERM (129 by SIGHUP)

Environment:
  PARLEY_CLI  the agent's CLI, as --cli
  NO_COLOR    no colours, as --no-color`

const runExample = `  parley run "Why does this test fail?"
  parley run --permission-mode acceptEdits "Fix the failing test"
  git diff | parley run "Review this change"
  parley run --allowed-tools "Bash(go test:*)" --max-turns 20 < task.md
  parley run --continue "And now the documentation"
  parley run --output json "List the packages" | jq -r .result
  parley run --json-schema @schema.json "How many files are there?"
  parley run --output stream-json "Explain main.go" > session.jsonl`
