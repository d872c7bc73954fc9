package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/crash"
)

func TestBugIsAnErrorThatSaysHowToReportIt(t *testing.T) {
	root := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
		panic("BUG: \x1b[31mon purpose")
	}}
	root.SetArgs(nil)
	err := execute(root)
	bug, ok := err.(*crash.Error)
	if !ok || codeOf(with(ExitHost, err)) != ExitHost || codeOf(err) != ExitInternal {
		t.Fatalf("error %v", err)
	}
	var b bytes.Buffer
	b.WriteString(howToReport([]string{"run", "--for", "1s"}, bug))
	for _, want := range []string{"This is a bug in ticktrap", "issues", `["run" "--for" "1s"]`, "crash_test.go"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
