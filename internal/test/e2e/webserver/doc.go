// Package webserver has the session server that the browser suite drives, as a test program: the
// real server with the embedded page, a temporary store and agents that play scenes; with -cli also
// the real Claude CLI against a fake API. It prints its address with the token, and ends with its
// standard input. The program is the test binary with the flag -dir.
package webserver
