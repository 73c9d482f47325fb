// Command slackfake serves the stand-in for Slack until it is stopped, so that
// clients in other languages can be driven against it. It prints one JSON line
// with the URL and the tokens; acts and faults come as JSON over POST /fake/….
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"standin/channels/slack/slacktest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to serve the workspace at; it must be of this machine")
	control := flag.String("control", "127.0.0.1:0", "address of the acts")
	resend := flag.Duration("resend", 3*time.Second, "how long an envelope waits for its acknowledgement")
	ping := flag.Duration("ping", 2*time.Second, "pause between pings of a socket")
	lie := flag.String("lie", "", "what to be wrong about, to see who notices: "+strings.Join(slacktest.Lies(), ", "))
	flag.Parse()
	if err := run(*addr, *control, *lie, *resend, *ping); err != nil {
		fmt.Fprintln(os.Stderr, "slackfake:", err)
		os.Exit(1)
	}
}

func run(addr, control, lie string, resend, ping time.Duration) error {
	if !strings.HasPrefix(addr, "127.") || !strings.HasPrefix(control, "127.") {
		return fmt.Errorf("both addresses must begin with 127: the workspace has no guard")
	}
	s, err := slacktest.Listen(addr)
	if err != nil {
		return err
	}
	defer s.Close()
	s.ResendAfter, s.Ping = resend, ping
	if err := s.Lie(lie); err != nil {
		return err
	}
	acts, err := slacktest.Control(s, control)
	if err != nil {
		return err
	}
	defer func() { _ = acts.Close() }()
	line := map[string]any{
		"api": s.API(), "control": "http://" + acts.Addr, "botToken": slacktest.BotToken, "appToken": slacktest.AppToken,
		"signingSecret": slacktest.Signing, "bot": slacktest.BotUser, "dm": slacktest.DM, "channel": slacktest.General,
		"alice": slacktest.Alice, "lies": slacktest.Lies(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	return nil
}
