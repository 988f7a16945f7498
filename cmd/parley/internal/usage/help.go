package usage

const usageLong = `Show what the sessions on this machine have used and cost.

Every transcript below the CLI's configuration directories is read, those of
subagents too, and every session of Codex: its rows stand beside those of Claude, and
--agent shows one of the two. An answer is counted once, however many lines and copies of it there
are: forks and resumed sessions repeat the lines of others.

Costs are list prices; what was written to the cache is priced by how long it was
to stay there. A model without a price is named and its cost is never taken for
nothing: a sum that it is part of ends in +?. --prices lays a file of the form

    {"models": {"claude-x-1": {"input": 3, "output": 15, "cacheRead": 0.3}}}

over the built-in prices, in dollars for a million tokens.

Newer CLIs leave a bill in each session. It is held against the sums, and where
the two differ the last line says by how much and why.

Exit codes:
    0  the report is written
    1  there are no sessions, or they cannot be read
    2  invalid command line
  130  interrupted (Ctrl-C); so ends --live
  141  the reader of the output is gone

Environment:
  CLAUDE_CONFIG_DIR  where the sessions are, separated by commas
  CODEX_HOME         where those of Codex are
  PARLEY_PRICES      a file with prices, as --prices
  TZ                 the time zone of days
  NO_COLOR           no colours, as --no-color`

const usageExample = `  parley usage daily
  parley usage daily --since 7d --breakdown
  parley usage monthly --timezone Asia/Tokyo
  parley usage session --last 10
  parley usage blocks --live --active
  parley usage project --json | jq '.project[0]'`
