// Package claudetest helps to test programs that drive the Claude Code CLI, without
// spending tokens and without a network.
//
// [FakeCLI] is a CLI written in Go: it starts the test's executable again as a real
// process that speaks the CLI's protocol. A [Program] decides its behavior through a
// [CLI], which has methods for the faults of real CLIs: slow starts, missing and late
// answers, bursts, lines of 100 MB, torn characters, junk, unknown types, exits, signals,
// grandchildren. [InProcess] runs the same programs inside the test, also in a
// testing/synctest bubble.
//
// [Builder] builds messages as the CLI writes them, for a fake CLI or for tests of
// code that only takes messages.
//
// [Recorder] records a session with any CLI, with secrets removed by a [Redactor], and
// [Replayer] plays it back.
//
// [FakeAPI] is a scripted Anthropic Messages API on the loopback interface. The
// real CLI talks to it when ANTHROPIC_BASE_URL names it, and [HermeticEnv] builds
// the environment for such a run. A [Script] is written in Go with [Say],
// [Text], [ToolUse] and [Fail], or read from a JSON file with [ReadScript].
package claudetest
