package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// helpWidth is the width of help, in columns: that of the narrowest usual
// terminal.
const helpWidth = 80

// help is what --help prints of v. It is written here and not with cobra's
// templates, which would link every exported method of every library.
func (v *verb) help() string {
	v.InheritedFlags() // has --help counted among the flags of v
	var b strings.Builder
	b.WriteString("Usage: " + v.CommandPath())
	if len(v.verbs) > 0 {
		b.WriteString(" <command>")
	}
	for _, a := range v.args {
		b.WriteString(" " + a.spelling())
	}
	flags := v.flagRows()
	if len(flags) > 1 {
		b.WriteString(" [flags]")
	}
	fmt.Fprintf(&b, "\n\n%s\n", strings.Join(wrapped(v.Short, helpWidth), "\n"))

	var rows [][2]string
	for _, a := range v.args {
		rows = append(rows, [2]string{a.spelling(), a.help})
	}
	section(&b, "Arguments", rows)
	section(&b, "Flags", flags)
	section(&b, "Commands", v.verbRows(""))
	if !v.HasParent() {
		fmt.Fprintf(&b, "\nRun \"%s <command> --help\" for more information on a command.\n", v.Name())
	}
	return b.String()
}

// flagRows are the flags of v, in the order they were bound in; --help and a
// gap come first.
func (v *verb) flagRows() [][2]string {
	var rows [][2]string
	v.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		switch {
		case f.NoOptDefVal != "": // a switch has no value
		case f.DefValue != "" && f.DefValue != "0":
			name += fmt.Sprintf("=%q", f.DefValue)
		default:
			name += "=" + strings.ToUpper(f.Value.Type())
		}
		rows = append(rows, [2]string{name, f.Usage})
	})
	help := [][2]string{{"-h, --help", v.Flag("help").Usage}}
	if len(rows) > 0 {
		help = append(help, [2]string{})
	}
	return append(help, rows...)
}

// verbRows are the verbs under v that do something, with the words that lead to
// them.
func (v *verb) verbRows(path string) [][2]string {
	if v.HasParent() && path == "" {
		path = strings.TrimPrefix(v.CommandPath(), v.Root().Name()+" ") + " "
	}
	var rows [][2]string
	for _, one := range v.verbs {
		switch {
		case one.Hidden:
		case len(one.verbs) > 0:
			rows = append(rows, one.verbRows(path+one.Name()+" ")...)
		default:
			rows = append(rows, [2]string{path + one.Name(), one.Short})
		}
	}
	return rows
}

// section writes rows of a name and its help under a title, if there are any.
func section(b io.Writer, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	left := 0
	for _, r := range rows {
		left = max(left, utf8.RuneCountInString(r[0]))
	}
	const indent, gap = 2, 4
	for _, r := range rows {
		name := r[0]
		for _, line := range wrapped(r[1], helpWidth-indent-left-gap) {
			fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%*s%-*s%s", indent, "", left+gap, name, line), " "))
			name = ""
		}
	}
}

// wrapped breaks a text into lines of at most width columns, between words. A
// longer word has a line of its own. There is one line at least.
func wrapped(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// helpCmd is `standin help`, for those who know it from elsewhere, and what
// --help does behind any words.
type helpCmd struct {
	root *verb
	Of   []string
}

func (w world) helpVerb(root *verb) *verb {
	c := helpCmd{root: root}
	v := w.verb(&c, "help", "Show the help of a command.",
		argument{name: "command", help: "The command.", rest: &c.Of, optional: true})
	v.Hidden = true
	return v
}

// Run prints the help of the verb that the words lead to.
func (c helpCmd) Run(w world) error {
	v, err := c.root.find(c.Of)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w.stdout, v.help())
	return err
}

// find gives the verb that words lead to. What the verb itself takes does not
// matter.
func (v *verb) find(words []string) (*verb, error) {
	for _, word := range words {
		if len(v.verbs) == 0 {
			break
		}
		i := slices.IndexFunc(v.verbs, func(one *verb) bool { return one.Name() == word })
		if i < 0 {
			return nil, v.unexpected(word)
		}
		v = v.verbs[i]
	}
	return v, nil
}
