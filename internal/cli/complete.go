package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/export"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/sweep"
)

// flagValues are the values that a shell completes, by flag. A flag with values
// of its own kind has its row here; file names are completed without one.
var flagValues = map[string]func(typed string) []string{
	"guest":    func(string) []string { return guests() },
	"engine":   words("auto", "model", "kvm"),
	"lapic":    words("vmm", "kernel"),
	"hide":     words("x2apic", "tsc-deadline"),
	"profile":  func(string) []string { return model.Profiles() },
	"reboot":   words("reset", "always", "never"),
	"kernel":   func(string) []string { return kernel.Names() },
	"scenario": func(string) []string { return scenario.Names() },
	"format":   func(string) []string { return formats() },
	"goal":     words(sweep.Goals...),
	"knob":     settings,
	"at":       turns,
	"vary":     axes,
	"append":   func(string) []string { return parameters() },
}

// files are the endings of the files that a command's arguments name.
var files = map[string]string{"replay": "tt", "report": "tt", "export": "tt", "diff": "tt", "explain": "tt", "gate": "toml"}

func words(w ...string) func(string) []string { return func(string) []string { return w } }

// completeValues gives every command the values of its flags and arguments.
func completeValues(root *cobra.Command) {
	for _, c := range append(root.Commands(), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if values, ok := flagValues[f.Name]; ok {
				// A flag that two commands share is registered once.
				_ = c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
					return beginning(values(typed), typed)
				})
			}
		})
		switch ext := files[c.Name()]; {
		case ext != "":
			c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return []string{ext}, cobra.ShellCompDirectiveFilterFileExt
			}
		case c.Name() == "run" || c.Name() == "sweep" || c == root:
			c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				v, _ := beginning(guests(), typed)
				return v, cobra.ShellCompDirectiveDefault
			}
		}
	}
}

// beginning keeps the values that begin as typed. A value that ends in "=" or ":"
// goes on, so no blank follows it.
func beginning(values []string, typed string) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, typed) {
			out = append(out, v)
			if word, _, _ := strings.Cut(v, "\t"); strings.HasSuffix(word, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
	}
	return out, directive
}

func guests() (out []string) {
	for _, n := range guest.Names() {
		d, _ := guest.Describe(n)
		out = append(out, n+"\t"+d.Text)
	}
	return out
}

func formats() (out []string) {
	for _, f := range export.Formats {
		out = append(out, f.Name+"\t"+f.Doc)
	}
	return out
}

func parameters() (out []string) {
	for _, k := range guest.Keys() {
		out = append(out, k.Name+"=\t"+k.Doc)
	}
	return out
}

// settings completes NAME=VALUE.
func settings(typed string) (out []string) {
	name, _, chosen := strings.Cut(typed, "=")
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		switch {
		case !chosen:
			out = append(out, fmt.Sprintf("%s=\t%s", k, trace.KnobSpecs[k].Doc))
		case k.String() == name:
			for _, v := range trace.KnobWords(k) {
				out = append(out, name+"="+v)
			}
		}
	}
	return out
}

// turns completes DEADLINE:NAME=VALUE behind the colon.
func turns(typed string) (out []string) {
	at, setting, ok := strings.Cut(typed, ":")
	if !ok {
		return nil
	}
	for _, s := range settings(setting) {
		out = append(out, at+":"+s)
	}
	return out
}

// axes completes NAME=VALUE,VALUE.
func axes(typed string) (out []string) {
	i := strings.LastIndexByte(typed, ',')
	if i < 0 {
		return settings(typed)
	}
	name, _, _ := strings.Cut(typed, "=")
	for _, s := range settings(name + "=" + typed[i+1:]) {
		out = append(out, typed[:i+1]+strings.TrimPrefix(s, name+"="))
	}
	return out
}
