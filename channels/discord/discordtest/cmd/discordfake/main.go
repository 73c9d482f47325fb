// Command discordfake serves the stand-in of Discord until it is stopped, so that
// clients in other languages can be driven against it. It prints one JSON line
// with the addresses and the token; acts and faults come as JSON over POST /fake/….
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"standin/channels/discord/discordtest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to serve Discord at; it must be of this machine")
	control := flag.String("control", "127.0.0.1:0", "address of the acts")
	lie := flag.String("lie", "", "what to be wrong about, to see who notices: "+strings.Join(discordtest.Lies(), ", "))
	var o discordtest.Options
	flag.DurationVar(&o.Interval, "heartbeat", 41250*time.Millisecond, "heartbeat interval")
	flag.Func("limit", "a rate limit, as 'POST /channels/:id/messages 2 1s'", func(text string) (err error) {
		o.Limits, err = limit(text)
		return err
	})
	flag.Parse()
	o.Listen = *addr
	if err := run(o, *control, *lie); err != nil {
		fmt.Fprintln(os.Stderr, "discordfake:", err)
		os.Exit(1)
	}
}

// limit reads the limit of one route.
func limit(text string) (func(string) (int, time.Duration), error) {
	var method, path, span string
	var calls int
	if _, err := fmt.Sscan(text, &method, &path, &calls, &span); err != nil {
		return nil, err
	}
	per, err := time.ParseDuration(span)
	if err != nil {
		return nil, err
	}
	return func(route string) (int, time.Duration) {
		if route == method+" "+path {
			return calls, per
		}
		return 0, 0
	}, nil
}

func run(o discordtest.Options, control, lie string) error {
	if !strings.HasPrefix(o.Listen, "127.") || !strings.HasPrefix(control, "127.") {
		return fmt.Errorf("both addresses must begin with 127: the server has no guard")
	}
	s, err := discordtest.New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Lie(lie); err != nil {
		return err
	}
	acts, err := discordtest.Control(s, control)
	if err != nil {
		return err
	}
	defer func() { _ = acts.Close() }()
	line := map[string]any{
		"api": strings.TrimSuffix(s.URL, "/v10"), "control": "http://" + acts.Addr, "token": s.Token, "bot": s.Bot.ID,
		"application": s.Application(), "guild": acts.Guild(), "channel": acts.Room("general"), "lies": discordtest.Lies(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	return nil
}
