package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"standin/fallback"
)

// runner is a verb's work. Its fields are what the flags and arguments say.
type runner interface{ Run(w world) error }

// verb is a command of the command line with what cobra does not know of it:
// what its arguments are called, and in which order its verbs are shown.
type verb struct {
	*cobra.Command
	args   []argument
	verbs  []*verb
	drains bool // hears of a signal through ctx and ends in its own order
}

// argument is a word that a verb takes after its name.
type argument struct {
	name, help string
	to         *string   // where it goes,
	rest       *[]string // or where this word and all that follow go
	optional   bool
	choices    []string // what a shell offers
	files      bool     // a shell offers files
}

// misuse is the error of a command line that says nothing that can be done.
type misuse struct{ line string }

func (m misuse) Error() string { return m.line }

// commandLine is every verb of standin.
func (w world) commandLine() *verb {
	root := w.group("standin", "A chat daemon that keeps answering when a model provider does not.",
		w.demoVerb(),
		w.serveVerb(),
		w.statusVerb(),
		w.incidentsVerb(),
		w.checkVerb(),
		w.doctorVerb(),
		w.configVerb(),
		w.authVerb(),
		w.modelsVerb(),
		w.slackVerb(),
		w.discordVerb(),
		w.channelsVerb(),
		w.cronVerb(),
		w.sessionsVerb(),
		w.pairingVerb(),
		w.heartbeatVerb(),
		w.systemVerb(),
		w.rehearseVerb(),
		w.explainVerb(),
		w.whyVerb(),
		w.logsVerb(),
		w.costVerb(),
		w.classifyVerb(),
		w.completionVerb(),
		w.versionVerb(),
	)
	root.PersistentFlags().BoolP("help", "h", false, "Show context-sensitive help.")
	root.SetFlagErrorFunc(flagFault)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SilenceErrors, root.SilenceUsage = true, true // run says it
	root.CompletionOptions.DisableDefaultCmd = true    // there is a verb
	help := w.helpVerb(root)
	root.with(help).SetHelpCommand(help.Command) // in place of cobra's
	return root
}

// verb is the verb that does c's work, once its arguments have been put into
// their places. Flags are bound to c by who calls.
func (w world) verb(c runner, name, help string, args ...argument) *verb {
	v := &verb{args: args}
	v.Command = &cobra.Command{
		Use:   name,
		Short: help,
		Args:  cobra.ArbitraryArgs, // take looks at them
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := forgottenValue(cmd.Flags(), w.args); err != nil {
				return err
			}
			if err := v.take(words); err != nil {
				return err
			}
			return attend(w, v.drains, c)
		},
		ValidArgsFunction: v.offer,
	}
	v.Flags().SortFlags = false
	return v
}

// group is a verb that only has verbs.
func (w world) group(name, help string, verbs ...*verb) *verb {
	return w.verb(choice(verbs), name, help).with(verbs...)
}

// with gives v verbs of its own.
func (v *verb) with(verbs ...*verb) *verb {
	v.verbs = append(v.verbs, verbs...)
	for _, one := range verbs {
		v.AddCommand(one.Command)
	}
	return v
}

// choice is the work of a group: there is none.
type choice []*verb

// Run refuses: one of the verbs had to be named.
func (c choice) Run(world) error {
	var names []string
	for _, v := range c {
		names = append(names, fmt.Sprintf("%q", v.Name()))
	}
	if len(names) == 1 {
		return misuse{"expected " + names[0]}
	}
	return misuse{"expected one of " + strings.Join(names, ", ")}
}

// take puts the words after the verb's name where they belong.
func (v *verb) take(words []string) error {
	for _, a := range v.args {
		switch {
		case len(words) == 0 && a.optional:
			return nil
		case len(words) == 0:
			return misuse{fmt.Sprintf("expected %q", a.spelling())}
		case a.rest != nil:
			*a.rest = words
			return nil
		}
		*a.to, words = words[0], words[1:]
	}
	if len(words) > 0 {
		return v.unexpected(words[0])
	}
	return nil
}

// unexpected is the error of a word that v does not take.
func (v *verb) unexpected(word string) error {
	var names []string
	for _, one := range v.verbs {
		names = append(names, one.Name())
	}
	return misuse{"unexpected argument " + word + meant("", word, names)}
}

// meant asks whether the nearest of the known words was meant, or says nothing.
func meant(prefix, word string, known []string) string {
	if near := fallback.Nearest(word, known); len(near) > 0 {
		return fmt.Sprintf(", did you mean %q?", prefix+near[0])
	}
	return ""
}

// offer is what a shell may complete an argument with.
func (v *verb) offer(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v.args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a := v.args[min(len(given), len(v.args)-1)]
	switch {
	case len(given) >= len(v.args) && a.rest == nil:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case a.files:
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.choices, cobra.ShellCompDirectiveNoFileComp
}

// spelling is the argument as help shows it.
func (a argument) spelling() string {
	s := "<" + a.name + ">"
	if a.rest != nil {
		s += " ..."
	}
	if a.optional {
		s = "[" + s + "]"
	}
	return s
}
