package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// completionCmd is `standin completion`.
type completionCmd struct {
	root  func() *cobra.Command
	Shell string
}

func (w world) completionVerb() *verb {
	var c completionCmd
	v := w.verb(&c, "completion", "Print the script that completes commands in your shell.",
		argument{name: "shell", help: "bash, zsh or fish. The script is read when a shell starts, for bash with: source <(standin completion bash)", to: &c.Shell, choices: []string{"bash", "zsh", "fish"}})
	c.root = v.Root
	return v
}

// Run prints the script, which asks this program what would fit.
func (c completionCmd) Run(w world) error {
	switch c.Shell {
	case "bash":
		return c.root().GenBashCompletionV2(w.stdout, true)
	case "zsh":
		return c.root().GenZshCompletion(w.stdout)
	case "fish":
		return c.root().GenFishCompletion(w.stdout, true)
	}
	return exit{exitUsage, fmt.Sprintf("%q is no shell that standin completes commands in; there are bash, zsh and fish", c.Shell)}
}
