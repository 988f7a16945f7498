package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/docs"
)

// Roff returns the manual page of a command, for section 1.
func Roff(cmd *cobra.Command) string {
	var b strings.Builder
	flags := Flags(cmd) // called first, because it changes the usage line
	title(&b, PageName(cmd), 1, cmd.Short)
	section(&b, "SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", escape(cmd.UseLine()))
	section(&b, "DESCRIPTION")
	preformatted(&b, about(cmd))
	if cmd.HasAvailableSubCommands() {
		section(&b, "COMMANDS")
		for _, c := range Commands(cmd)[1:] {
			if c.Parent() == cmd {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape(c.Name()), escape(c.Short))
			}
		}
	}
	section(&b, "OPTIONS")
	for _, f := range flags {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&b, ".TP\n.BI %s\n%s\n", strings.TrimSpace(quote(name)+" "+quote(strings.TrimRight(" "+f.Value, " "))), escape(f.fullUsage()))
	}
	if cmd.Example != "" {
		section(&b, "EXAMPLES")
		preformatted(&b, cmd.Example)
	}
	if cmd.HasParent() {
		section(&b, "SEE ALSO")
		fmt.Fprintf(&b, ".BR %s (1)\n", escape(PageName(cmd.Parent())))
	}
	return b.String()
}

// TopicRoff returns the manual page of a topic, for section 7.
func TopicRoff(t docs.Topic) string {
	var b strings.Builder
	title(&b, TopicName(t), 7, t.Title)
	section(&b, "DESCRIPTION")
	fmt.Fprintf(&b, "%s\n", escape(t.Summary))
	for point := range strings.Lines(t.Short) {
		fmt.Fprintf(&b, ".IP \\(bu 2\n%s", escape(point))
	}
	section(&b, "SEE ALSO")
	fmt.Fprintf(&b, ".BR parley (1),\ndocs/%s in the source\n", escape(t.Page))
	return b.String()
}

func title(b *strings.Builder, name string, number int, short string) {
	fmt.Fprintf(b, ".TH %s %d \"\" Parley\n.SH NAME\n%s \\- %s\n", strings.ToUpper(escape(name)), number, escape(name), escape(short))
}

func section(b *strings.Builder, name string) { fmt.Fprintf(b, ".SH %s\n", name) }

// preformatted keeps the line breaks of a text, because help has lists and tables.
func preformatted(b *strings.Builder, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", escape(text))
}

// escape escapes text for roff: no line becomes a request, no backslash an escape, hyphens can
// be copied, and characters outside of ASCII are written by number.
func escape(text string) string {
	var b strings.Builder
	first := true
	for _, r := range text {
		switch {
		case first && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
		first = r == '\n'
	}
	return b.String()
}

// quote makes text one argument of a request; "" stays "".
func quote(text string) string {
	if text == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(escape(text), `"`, `\(dq`) + `"`
}
