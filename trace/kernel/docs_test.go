package kernel

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
)

func TestDocsAreCurrent(t *testing.T) { golden.Equal(t, "../../docs/kernels.md", []byte(Docs())) }
