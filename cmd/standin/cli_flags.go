package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"standin/cmd/standin/config"
	"standin/store"
)

// The help of flags that several verbs have.
const (
	configHelp = "Config file (default: $STANDIN_CONFIG, then config.yaml in the state folder)."
	stateHelp  = "State folder (default: $STANDIN_STATE_DIR, then ~/.standin)."
)

// stateFlag is --state: where a verb finds what the daemon keeps.
type stateFlag struct{ State string }

func (f *stateFlag) bind(v *verb) { v.Flags().Var(text{&f.State, "DIR"}, "state", stateHelp) }

// dir is the folder, named or usual [D15].
func (f stateFlag) dir(w world) string { return cmp.Or(f.State, config.StateDir(w.getenv)) }

func (f stateFlag) options(w world) store.Options { return store.Options{Dir: f.dir(w)} }

// text is a flag's text, with the word that help shows in its place.
type text struct {
	to    *string
	shown string
}

// Set, String and Type make text a value of pflag, whose type is that word.
func (t text) Set(s string) error { *t.to = s; return nil }
func (t text) String() string     { return *t.to }
func (t text) Type() string       { return t.shown }

// given is a text that may be given empty, which is not the same as not given.
type given struct {
	to    **string
	shown string
}

// Set, String and Type make given a value of pflag.
func (g given) Set(s string) error { *g.to = &s; return nil }
func (g given) Type() string       { return g.shown }
func (g given) String() string {
	if *g.to == nil {
		return ""
	}
	return **g.to
}

// flagFault says what cobra could not read, in our words.
func flagFault(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return misuse{"unknown flag -" + unknown.GetSpecifiedName()}
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := unknown.GetSpecifiedName()
		return misuse{"unknown flag --" + name + meant("--", name, names)}
	case errors.As(err, &bare):
		return misuse{fmt.Sprintf("--%s: expected a value", bare.GetFlag().Name)}
	case errors.As(err, &bad):
		what := "true or false"
		if bad.GetFlag().NoOptDefVal == "" {
			what = "a number" // a text is never bad
		}
		return misuse{fmt.Sprintf("--%s: expected %s but got %q", bad.GetFlag().Name, what, bad.GetValue())}
	}
	return misuse{err.Error()}
}

// forgottenValue finds the flag whose value was left out, so that it swallowed
// the flag after it: --state --json. A value that does begin with a dash is
// written in one word, --message=-x, and a lone dash is a value.
func forgottenValue(flags *pflag.FlagSet, args []string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		v := f.Value.String()
		if f.NoOptDefVal != "" || len(v) < 2 || v[0] != '-' || err != nil {
			return
		}
		inOneWord := func(arg string) bool { return arg[:min(1, len(arg))] == "-" && arg != v && strings.HasSuffix(arg, v) }
		if !slices.ContainsFunc(args, inOneWord) {
			err = misuse{fmt.Sprintf("--%s: expected a value but got %q; if that is the value, write --%s=%s", f.Name, v, f.Name, v)}
		}
	})
	return err
}
