// Package transcript reads, finds and changes the sessions that Claude Code
// keeps on disk: one file of JSON lines a session, below the projects of a
// configuration directory.
//
// [Open] gives the view of a configuration directory. [Dir.Sessions] lists,
// [Dir.Session] finds one session by its id, wherever it is, [Dir.Search] looks
// through the text of all of them. A [Session] is read as it was written, line by
// line ([Session.Entries]), as the conversation that a resumed session goes on
// with ([Session.Conversation]), as the tree of everything that was ever said
// ([Session.Tree]), in pages ([Session.Page]), or while it grows
// ([Session.Follow]).
//
// Four rules hold everywhere:
//
//   - Unknown is data. A line of a type that this package does not know is an
//     [UnknownEntry] with all of its text, and members that no field holds are in
//     the entry's Raw.
//   - A bad line hides nothing else. It is a [*LineError], and the reading goes
//     on. Lines have no limit of length.
//   - Reading changes nothing, and nothing is changed in place. What exists is
//     appended to, one line in one write, or replaced by a rename; killing a
//     writer leaves every file as it was or as it should be.
//   - The answers are those of the official SDK (listSessions, getSessionInfo,
//     getSessionMessages, listSubagents, getSubagentMessages), which the tests ask
//     for the same trees. Where this package keeps more, a comment says so.
//
// A Dir and a Session hold no open file and may be used from any goroutine.
package transcript
