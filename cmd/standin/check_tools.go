package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"standin/bot/mcp"
	"standin/cmd/standin/config"
)

// printServers writes which servers bring tools along, and what keeps one from
// coming up that can be told without running it. Names only: of environment and
// headers nothing is shown [I12].
func printServers(w io.Writer, c *config.Compiled, find func(program string) (string, error)) {
	if len(c.Servers) == 0 {
		return
	}
	switch {
	case !c.Bot.Tools.On:
		fmt.Fprintln(w, "tool servers: not used, tools.enabled is false")
	default:
		fmt.Fprintln(w, "tool servers:")
	}
	for _, s := range c.Servers {
		fmt.Fprintf(w, "    %s, for %s: %s\n", s.Name, users(s), reached(s, find))
	}
	fmt.Fprintln(w)
}

func reached(s mcp.Server, find func(string) (string, error)) string {
	if s.URL != "" {
		return s.URL
	}
	if _, err := find(s.Command[0]); err != nil && s.Dir == "" {
		return fmt.Sprintf("the program %s is not found here; install it, or give its whole path", s.Command[0])
	}
	return "runs " + strings.Join(s.Command[:1], " ")
}

func users(s mcp.Server) string {
	if s.Everyone {
		return "everybody who may talk to an agent"
	}
	return "the owner"
}

// findProgram looks for a program as running it would.
func findProgram(program string) (string, error) { return exec.LookPath(program) }
