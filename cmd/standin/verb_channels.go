package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"standin/channels"
	"standin/cmd/standin/daemon"
)

// channelsVerb is `standin channels`.
func (w world) channelsVerb() *verb {
	return w.group("channels", "How the channels of the running daemon are.", w.channelsStatusVerb())
}

type channelsStatusCmd struct {
	stateFlag
	JSON bool
}

func (w world) channelsStatusVerb() *verb {
	var c channelsStatusCmd
	v := w.verb(&c, "status", "Ask the running daemon how its channels are.")
	c.bind(v)
	v.Flags().BoolVar(&c.JSON, "json", false, "As JSON.")
	return v
}

// Run tells what the daemon itself says just now, over the socket in its state
// folder: 0 when every channel is ready, 1 when one is not, 2 when no daemon
// answers.
func (c channelsStatusCmd) Run(w world) error {
	dir := c.dir(w)
	list, err := daemon.AskStatus(w.ctx, dir)
	if err != nil {
		return exit{exitUsage, fmt.Sprintf("no daemon answers for %s: %v; standin serve starts one", dir, err)}
	}
	if c.JSON {
		if err := printJSON(w, list); err != nil {
			return err
		}
	} else if len(list) == 0 {
		fmt.Fprintln(w.stdout, "The daemon has no channels but the terminal it was started in.")
	}
	ready, now := true, time.Now()
	t := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	for _, r := range list {
		ready = ready && r.State == string(channels.Ready)
		if c.JSON {
			continue
		}
		state := r.State + " for " + now.Sub(r.Since).Round(time.Second).String()
		if r.Reason != "" {
			state += ": " + r.Reason
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Channel, r.Account, state)
		if r.Mend != "" && !strings.Contains(r.Reason, r.Mend) {
			fmt.Fprintf(t, "\t\t%s\n", r.Mend)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !ready {
		return exit{code: exitFault}
	}
	return nil
}
