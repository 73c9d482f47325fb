// Command discordfake runs the stand-in of Discord until it is interrupted, so
// that clients in other languages can be driven against it. It prints one line
// of JSON with its addresses; then it reads acts from standard input, one a line:
//
//	say <person> <channel> <text>       a message; the channel is dm, or a room of the server
//	slash <person> <channel> <name> <text>
//	drop | reconnect | invalidate | resumable | close <code>
//	journal                             prints the journal as JSON lines
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"standin/channels/discord/discordtest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	token := flag.String("token", "", "the bot's token; empty makes one up")
	interval := flag.Duration("heartbeat", 41250*time.Millisecond, "heartbeat interval")
	flag.Parse()
	s, err := discordtest.New(discordtest.Options{Listen: *listen, Token: *token, Interval: *interval})
	if err != nil {
		fmt.Fprintln(os.Stderr, "discordfake:", err)
		os.Exit(1)
	}
	defer s.Close()
	play(s)
}

// play takes acts until standard input ends.
func play(s *discordtest.Server) {
	guild := s.NewGuild("server")
	rooms := map[string]*discordtest.Channel{"general": guild.NewChannel("general")}
	people := map[string]discordtest.User{}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]string{
		"url": s.URL, "api": strings.TrimSuffix(s.URL, "/v10"), "token": s.Token, "bot": s.Bot.ID,
		"application": s.Application(), "guild": guild.ID, "general": rooms["general"].ID,
	})
	person := func(name string) discordtest.User {
		if _, ok := people[name]; !ok {
			people[name] = s.Person(name)
		}
		return people[name]
	}
	room := func(u discordtest.User, name string) *discordtest.Channel {
		if name == "dm" {
			return s.DM(u)
		}
		if rooms[name] == nil {
			rooms[name] = guild.NewChannel(name)
		}
		return rooms[name]
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		w := strings.SplitN(lines.Text(), " ", 4)
		switch {
		case w[0] == "say" && len(w) == 4:
			u := person(w[1])
			text := strings.ReplaceAll(w[3], "@bot", s.Bot.Mention())
			_ = out.Encode(map[string]string{"said": s.Say(u, room(u, w[2]), text).ID})
		case w[0] == "slash" && len(w) == 4:
			u := person(w[1])
			name, text, _ := strings.Cut(w[3], " ")
			_ = out.Encode(map[string]string{"used": s.Slash(u, room(u, w[2]), name, text).ID})
		case w[0] == "drop":
			s.Drop()
		case w[0] == "reconnect":
			s.AskToReconnect()
		case w[0] == "invalidate":
			s.Invalidate(false)
		case w[0] == "resumable":
			s.Invalidate(true)
		case w[0] == "close" && len(w) == 2:
			code, _ := strconv.Atoi(w[1])
			s.Shut(code)
		case w[0] == "journal":
			for _, e := range s.Journal() {
				_ = out.Encode(e)
			}
		default:
			_ = out.Encode(map[string]string{"unknown": lines.Text()})
		}
	}
}
