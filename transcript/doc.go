// Package transcript reads, finds and changes the sessions that Claude Code
// keeps on disk: one file of JSON lines a session, below the projects of a
// configuration directory.
//
// [Open] returns the view of a configuration directory. [Dir.Sessions] lists sessions,
// [Dir.Session] finds one session by its id in any project, and [Dir.Search] searches the text of
// all sessions. A [Session] can be read line by line ([Session.Entries]), as the conversation that
// a resumed session continues ([Session.Conversation]), as the tree of all entries
// ([Session.Tree]), in pages ([Session.Page]), or while it grows ([Session.Follow]).
//
// Four rules apply everywhere:
//
//   - Unknown is data. A line of a type that this package does not know is an
//     [UnknownEntry] with all of its text, and members that no field holds are in
//     the entry's Raw.
//   - A bad line does not hide others. It is a [*LineError], and the reading goes
//     on. Lines have no limit of length.
//   - Reading never writes, and no file is changed in place. A file is
//     appended to, one line in one write, or replaced by a rename; killing a
//     writer leaves every file as it was or as it should be.
//   - The answers are those of the official SDK (listSessions, getSessionInfo,
//     getSessionMessages, listSubagents, getSubagentMessages), which the tests ask
//     for the same trees. Comments note where this package keeps more.
//
// A Dir and a Session hold no open file and may be used from any goroutine.
package transcript
