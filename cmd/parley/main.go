// Command parley runs coding agents that speak the Claude Agent SDK protocol.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
