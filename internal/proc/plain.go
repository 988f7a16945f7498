package proc

import "regexp"

// terminalCodes matches the sequences with which programs color and move text in a terminal.
var terminalCodes = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\-_])")

// plain removes the escape sequences of a terminal from a text.
func plain(s string) string { return terminalCodes.ReplaceAllString(s, "") }
