package history

const sessionsLong = `Find, read, change, repair and archive the sessions of the agent's CLI.

A session is named by its id, the beginning of its id, its title, or the path of its
file. list, show, search, export and rename also support sessions of Codex; --agent
selects the agent. The other commands report that they are unsupported for Codex.
No file is changed in place; deleted sessions go to a trash. A session that a process
has open is changed only with --live.

Exit codes:
    0  done
    1  no match was found, something failed, or the doctor found damage
    2  invalid command line
  130  interrupted (Ctrl-C)

Environment:
  CLAUDE_CONFIG_DIR  directory of the sessions
  CODEX_HOME         directory of the sessions of Codex
  PARLEY_ARCHIVE     directory of the archive
  NO_COLOR           disables colours, like --no-color`

const sessionsExample = `  parley sessions list --dir .
  parley sessions search 'race condition' --since 30d
  parley sessions show 4f1c --last 20
  parley sessions export 4f1c -o session.html --redact
  parley sessions doctor
  parley sessions archive save`

const sessionsListLong = `List sessions, most recently changed first.

The command reads only the start and the end of each file. It stores the results in an
index, so that the next list reads only changed files.`

const sessionsListExample = `  parley sessions list
  parley sessions list --dir . --branch main
  parley sessions list --since 7d --json | jq -r '.[].sessionId'`

const sessionsShowLong = `Show the conversation of a session: from the last compaction on, without rewound
messages, as the CLI would continue it. parley sessions tree shows everything.

With --json the messages have the form of the official SDK.`

const sessionsShowExample = `  parley sessions show 4f1c
  parley sessions show 4f1c --last 20 --thinking --full
  parley sessions show 4f1c --json | jq '.[0].message'`

const sessionsSearchLong = `Search the text of all sessions, including subagents, for an exact text. Case is
ignored unless --case is set; escapes in the file make no difference. The command that
continues a session follows its matches.

With --json every match is a line.`

const sessionsSearchExample = `  parley sessions search 'race condition'
  parley sessions search TODO --case --role user --dir .
  parley sessions search 'go test' --tool Bash --since 7d
  parley sessions search 日本語 --json | jq -r .resume`

const sessionsTailLong = `Show the last entries of a session in the order of the file, and with --follow also
new ones. With --json each entry is its line of the file.`

const sessionsTailExample = `  parley sessions tail 4f1c
  parley sessions tail 4f1c -f -n 0
  parley sessions tail 4f1c -f --json | jq -c .type`

const sessionsTreeLong = `Show everything in a session: rewound branches, messages before a compaction, and
subagents at the call that started them. ● marks the conversation, ○ other branches,
and ? entries that lost their parent.`

const sessionsTreeExample = `  parley sessions tree 4f1c
  parley sessions tree 4f1c --json | jq '.roots[] | select(.branches)'`

const sessionsExportLong = `Write a session as Markdown, as one file of HTML, or as JSON.

The HTML loads no external resources and runs no script: tools are folded, code is
highlighted, and a policy in the file forbids everything else. The file appears when
it is complete; an existing one is replaced only with --force.

--redact removes keys, tokens, credentials, e-mail addresses and home directories,
which it recognizes by their form and by the names before them, and the values of this
environment's secret variables. It cannot recognize a secret that looks like an
ordinary word: pass it with --secret.`

const sessionsExportExample = `  parley sessions export 4f1c > session.md
  parley sessions export 4f1c -o session.html --redact
  parley sessions export 4f1c --format json --no-subagents | jq '.messages | length'`

const sessionsForkExample = `  parley sessions fork 4f1c
  parley sessions fork 4f1c --at 0d4c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88 --title 'Another way'`

const sessionsRmLong = `Move sessions to the trash in the configuration directory: the file, its subagents and
the stored output of tools. --undo restores them.`

const sessionsRmExample = `  parley sessions rm 4f1c 77aa
  parley sessions rm --trash
  parley sessions rm --undo 4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88`

const sessionsDoctorLong = `Search for damage in sessions, all of them if none is named: torn ends, lines that are
not JSON, lost parents, cycles, duplicate uuids, calls without results and results
without calls, thinking without text, oversized lines.

  breaks-resume   the API refuses the resumed session, or it continues without earlier
                  messages
  breaks-display  a message is not shown
  harmless        neither

The exit code is 1 if anything but harmless damage was found.`

const sessionsDoctorExample = `  parley sessions doctor
  parley sessions doctor 4f1c
  parley sessions doctor --json | jq '.[] | select(.findings != [])'`

const sessionsRepairLong = `Copy a damaged session into a new one without the damage, and show the difference.
The damaged session is not changed.

Unreadable lines are omitted; an entry that lost its parent follows the entry before
it; a call without a result gets one that reports the loss; a result without its call
becomes text; thinking without text is removed; long texts in oversized lines are cut.`

const sessionsRepairExample = `  parley sessions repair 4f1c --dry-run
  parley sessions repair 4f1c
  claude --resume "$(parley sessions repair 4f1c --json | jq -r .repaired)"`

const sessionsArchiveLong = `Archive sessions that the CLI would delete, and restore them.

When it starts, the CLI deletes sessions that have not changed for 30 days, or for the
number of days in its setting cleanupPeriodDays. An archive holds a compressed copy of
everything below its directory of projects, each content once. A save adds only new
content; deleted sessions stay in the archive.

mark and unmark have another purpose: they set the mark "archived" of the official
SDK.`

const sessionsArchiveExample = `  parley sessions archive expiring --within 7
  parley sessions archive save
  parley sessions archive list --gone
  parley sessions archive restore 4f1c`

const archiveExpiringLong = `Show which sessions the CLI will delete, and when, according to cleanupPeriodDays. A
CLI that runs in a project with other settings uses those, and sessions of the desktop
program are kept longer.`

const archiveRestoreLong = `Restore sessions from the archive, checked against their SHA-256. Existing files are
not changed. Restored files get the current time, because the CLI deletes old ones when
it starts; with --keep-times they get their original times.`
