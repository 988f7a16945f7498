package history

const sessionsLong = `Find, read, change, repair and keep the sessions of the agent's CLI.

A session is named by its id, by the beginning of its id, by its title, or by the
path of its file. list, show, search, export and rename know those of Codex too, and
--agent says which are meant; the other commands say that they are unsupported for them.
Nothing is ever changed in place; what a command deletes goes to
a trash. A session that a process has open is not changed unless --live is given.

Exit codes:
    0  done
    1  nothing was found, something failed, or the doctor found damage
    2  invalid command line
  130  interrupted (Ctrl-C)

Environment:
  CLAUDE_CONFIG_DIR  where the sessions are
  CODEX_HOME         where those of Codex are
  PARLEY_ARCHIVE     where the archive is
  NO_COLOR           no colours, as --no-color`

const sessionsExample = `  parley sessions list --dir .
  parley sessions search 'race condition' --since 30d
  parley sessions show 4f1c --last 20
  parley sessions export 4f1c -o session.html --redact
  parley sessions doctor
  parley sessions archive save`

const sessionsListLong = `List sessions, the one that changed last first.

Only the ends of each file are read, and an index remembers what was found, so that
the next list reads only what has changed.`

const sessionsListExample = `  parley sessions list
  parley sessions list --dir . --branch main
  parley sessions list --since 7d --json | jq -r '.[].sessionId'`

const sessionsShowLong = `Show the conversation of a session: from the last compaction on, without what was
rewound, as the CLI would go on with it. parley sessions tree shows everything.

With --json the messages have the form that the official SDK gives them.`

const sessionsShowExample = `  parley sessions show 4f1c
  parley sessions show 4f1c --last 20 --thinking --full
  parley sessions show 4f1c --json | jq '.[0].message'`

const sessionsSearchLong = `Search the text of all sessions, subagents included, for a text as it stands. Case
does not count unless --case is given, and it makes no difference how a character is
written in the file. Each session is followed by the command that goes on with it.

With --json every hit is a line.`

const sessionsSearchExample = `  parley sessions search 'race condition'
  parley sessions search TODO --case --role user --dir .
  parley sessions search 'go test' --tool Bash --since 7d
  parley sessions search 日本語 --json | jq -r .resume`

const sessionsTailLong = `Show the last entries of a session as they were written, and with --follow those
that are written from now on. With --json each is its line of the file.`

const sessionsTailExample = `  parley sessions tail 4f1c
  parley sessions tail 4f1c -f -n 0
  parley sessions tail 4f1c -f --json | jq -c .type`

const sessionsTreeLong = `Show everything that was ever said in a session: branches that were rewound, what
was before a compaction, subagents where they were started. ● is the conversation,
○ is beside it, ? lost what it followed.`

const sessionsTreeExample = `  parley sessions tree 4f1c
  parley sessions tree 4f1c --json | jq '.roots[] | select(.branches)'`

const sessionsExportLong = `Write a session as Markdown, as one file of HTML, or as JSON.

The HTML loads nothing from elsewhere and runs no script: tools are folded, code is
highlighted, and a policy in the file forbids everything else. The file appears when
it is whole; one that exists is not replaced without --force.

--redact takes out keys, tokens, credentials, e-mail addresses and home directories
by their shape and by the names before them, and the values of this environment's
secret variables. What looks like any word it cannot know: --secret names it.`

const sessionsExportExample = `  parley sessions export 4f1c > session.md
  parley sessions export 4f1c -o session.html --redact
  parley sessions export 4f1c --format json --no-subagents | jq '.messages | length'`

const sessionsForkExample = `  parley sessions fork 4f1c
  parley sessions fork 4f1c --at 0d4c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88 --title 'Another way'`

const sessionsRmLong = `Delete sessions: the file and what is beside it, subagents and output of tools. They
go to a trash in the configuration directory, from which --undo gets them back.`

const sessionsRmExample = `  parley sessions rm 4f1c 77aa
  parley sessions rm --trash
  parley sessions rm --undo 4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88`

const sessionsDoctorLong = `Look for damage in sessions, all of them if none is named: torn ends, lines that are
no JSON, lost parents, circles, uuids that occur twice, calls without results and
results without calls, thinking that lost its text, lines that are too long.

  breaks-resume   the API refuses a resumed session, or it goes on without what was
                  said before
  breaks-display  something that was said is not shown
  harmless        neither

The exit code is 1 if anything but harmless was found.`

const sessionsDoctorExample = `  parley sessions doctor
  parley sessions doctor 4f1c
  parley sessions doctor --json | jq '.[] | select(.findings != [])'`

const sessionsRepairLong = `Copy a damaged session into a new one without the damage, and show the difference.
The damaged one stays as it is.

What cannot be read is left out; what lost its place follows what was before it; a
call without a result gets one that says so; a result without its call becomes text;
thinking that lost its text goes; long texts in lines that are too long are cut.`

const sessionsRepairExample = `  parley sessions repair 4f1c --dry-run
  parley sessions repair 4f1c
  claude --resume "$(parley sessions repair 4f1c --json | jq -r .repaired)"`

const sessionsArchiveLong = `Keep sessions that the CLI would delete, and get them back.

The CLI deletes sessions that have not changed for some days, 30 unless its setting
cleanupPeriodDays says otherwise, whenever it is started. An archive holds a copy of
everything below its projects: compressed, each content once, and a save adds only
what is new. What is deleted stays in the archive.

mark and unmark are about something else: the mark "archived" that the official SDK
gives a session.`

const sessionsArchiveExample = `  parley sessions archive expiring --within 7
  parley sessions archive save
  parley sessions archive list --gone
  parley sessions archive restore 4f1c`

const archiveExpiringLong = `Show which sessions the CLI will delete, and when: so many days after their last
change as cleanupPeriodDays says. A CLI that runs where a project's own settings say
something else goes by those, and sessions of the desktop program are kept longer.`

const archiveRestoreLong = `Get sessions back from the archive, checked against their SHA-256. A file that exists
is never touched. Restored files are as old as their restoring, unless --keep-times is
given: the CLI deletes old ones when it is started.`
