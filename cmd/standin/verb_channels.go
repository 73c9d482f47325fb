package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"text/tabwriter"
	"time"

	"standin/channels"
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
	list, err := askStatus(w.ctx, filepath.Join(dir, socketFile))
	if err != nil {
		return exit{exitUsage, fmt.Sprintf("no daemon answers for %s: %v", dir, err)}
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Channel, r.Account, r.State, "for "+now.Sub(r.Since).Round(time.Second).String(), r.Reason)
		if r.Mend != "" {
			fmt.Fprintf(t, "\t%s\n", r.Mend)
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

// askStatus asks the daemon behind a socket.
func askStatus(ctx context.Context, socket string) (list []report, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://standin/channels", nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it says %s", answer.Status)
	}
	return list, json.NewDecoder(answer.Body).Decode(&list)
}
