// Package claudetest tests programs that drive the Claude Code CLI, without a
// token spent and without a network.
//
// [FakeAPI] is a scripted Anthropic Messages API on the loopback interface. The
// real CLI talks to it when ANTHROPIC_BASE_URL names it, and [HermeticEnv] builds
// the environment for such a run. A [Script] is written in Go with [Say],
// [Text], [ToolUse] and [Fail], or read from a JSON file with [ReadScript].
//
// The package is also the home of the kit's other stand-ins, each in files of
// its own name.
package claudetest
