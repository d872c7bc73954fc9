package l1

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// BuildInit compiles l1init into out.
func BuildInit(ctx context.Context, out string) error {
	return goTool(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", out, "codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1/l1init")
}

// Build compiles a program of this module into out, statically.
func Build(ctx context.Context, out, pkg string) error {
	return goTool(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
}

// BuildTest compiles the tests of a package of this module into out, statically.
func BuildTest(ctx context.Context, out, pkg string) error {
	return goTool(ctx, "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
}

func goTool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return nil
}
