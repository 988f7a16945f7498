package usage

const usageLong = `Show the usage and the cost of the sessions on this machine.

The command reads every transcript below the CLI's configuration directories, including
subagents, and every session of Codex, whose rows are separate; --agent selects one of
the two. Each answer is counted once, although forks and resumed sessions repeat the
lines of others.

Costs are list prices; cache writes are priced by their lifetime. A model without a
price is named, and its cost is never counted as zero: a sum that includes it ends in
+?. --prices adds a file of the form

    {"models": {"claude-x-1": {"input": 3, "output": 15, "cacheRead": 0.3}}}

to the built-in prices, in dollars per million tokens.

Newer CLIs write a bill into each session. The command compares the sums with it; if
they differ, the last line shows the difference and the reason.

Exit codes:
    0  the report was written
    1  there are no sessions, or they cannot be read
    2  invalid command line
  130  interrupted (Ctrl-C), also with --live
  141  the reader of the output has closed it

Environment:
  CLAUDE_CONFIG_DIR  directories of the sessions, separated by commas
  CODEX_HOME         directory of the sessions of Codex
  PARLEY_PRICES      a file with prices, like --prices
  TZ                 the time zone of days
  NO_COLOR           disables colours, like --no-color`

const usageExample = `  parley usage daily
  parley usage daily --since 7d --breakdown
  parley usage monthly --timezone Asia/Tokyo
  parley usage session --last 10
  parley usage blocks --live --active
  parley usage project --json | jq '.project[0]'`
