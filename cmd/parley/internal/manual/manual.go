// Package manual renders the help of commands and topics: on the terminal, as manual pages and as Markdown. The
// text comes from the help of the commands and from the guides.
package manual

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/docs"
)

// Commands returns a command and all visible commands below it, sorted by name.
func Commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	below := slices.Clone(root.Commands())
	slices.SortFunc(below, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	for _, c := range below {
		if !c.Hidden && c.Name() != "help" {
			all = append(all, Commands(c)...)
		}
	}
	return all
}

// Flag is a flag of a command in the manual.
type Flag struct {
	Name, Shorthand string
	Value           string // name of its value; "" for a switch
	Usage           string
	Default         string // "" if it is not informative
}

// Flags returns the flags of a command and those that it inherits, by name.
func Flags(cmd *cobra.Command) []Flag {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	var flags []Flag
	visit := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		flags = append(flags, Flag{f.Name, f.Shorthand, value, usage, defaultOf(f)})
	}
	cmd.LocalFlags().VisitAll(visit)
	cmd.InheritedFlags().VisitAll(visit)
	slices.SortFunc(flags, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	return flags
}

// defaultOf returns the default of a flag if it is informative. It describes a path that depends on this machine.
func defaultOf(f *pflag.Flag) string {
	switch {
	case slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue):
		return ""
	case filepath.IsAbs(f.DefValue):
		return filepath.Base(f.DefValue) + " in the user's data directory"
	}
	return f.DefValue
}

// fullUsage returns the usage of a flag with its default.
func (f Flag) fullUsage() string {
	if f.Default == "" {
		return f.Usage
	}
	return f.Usage + " (default " + f.Default + ")"
}

// about returns the description of a command.
func about(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return strings.TrimSpace(cmd.Long)
	}
	return cmd.Short + "."
}

// PageName returns the name of the manual page of a command: "parley-sessions-list".
func PageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// TopicName returns the name of the manual page of a topic: "parley-permissions".
func TopicName(t docs.Topic) string { return "parley-" + t.Name }
