package manual_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/manual"
	"github.com/seed7221b0f9/parley/docs"
)

func command() *cobra.Command {
	root := &cobra.Command{Use: "parley", Short: "Run coding agents"}
	cmd := &cobra.Command{Use: "run [flags] PROMPT", Short: "Ask", Long: "Ask\n.dots and \\n stay, ✓ too.", Example: "  parley run -x", Run: func(*cobra.Command, []string) {}}
	cmd.Flags().StringP("output", "o", "text", "the `FORMAT`: a|b")
	cmd.Flags().String("data", "/srv/x/parley", "where")
	cmd.Flags().Bool("secret", false, "not shown")
	_ = cmd.Flags().MarkHidden("secret")
	root.AddCommand(cmd, &cobra.Command{Use: "gone", Hidden: true})
	return root
}

func TestMarkdown(t *testing.T) {
	got := manual.Markdown(command())
	for _, want := range []string{"## parley run\n", "| `-o`, `--output FORMAT` | the FORMAT: a\\|b (default text) |", "(default parley in the user's data directory)", "| `-h`, `--help` |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, bad := range []string{"/srv", "secret", "gone"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in\n%s", bad, got)
		}
	}
}

func TestRoff(t *testing.T) {
	got := manual.Roff(manual.Commands(command())[1])
	for _, want := range []string{".TH PARLEY\\-RUN 1", "parley\\-run \\- Ask\n", "\\&.dots and \\en stay, \\[u2713] too.", ".BI \"\\-o, \\-\\-output\" \" FORMAT\"\n", ".SH EXAMPLES\n.nf\n  parley run \\-x\n.fi\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	topic := manual.TopicRoff(docs.Topic{Name: "hooks", Title: "Hooks", Summary: "About.", Short: "One.\n'Two.\n", Page: "guide/hooks.md"})
	if !strings.Contains(topic, ".IP \\(bu 2\n\\&'Two.\n") || !strings.Contains(topic, ".TH PARLEY\\-HOOKS 7") {
		t.Errorf("%s; want strings.Contains(topic, \".IP \\\\(bu 2\\n\\\\&'Two.\\n\") and strings.Contains(topic, \".TH PARLEY\\\\-HOOKS 7\")", topic)
	}
}
