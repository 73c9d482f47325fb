package slack

import (
	"fmt"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// Slash commands become commands of their sender; each is handed over once, and
// its answer reaches the asker where the bot is no member, too [SL28].
func TestSlashCommands(t *testing.T) {
	for _, c := range []struct {
		command, text string
		want          string // "" not handed over
		enabled       bool
	}{
		{"/standin", "/model openai/gpt-5.5", "/model openai/gpt-5.5", true},
		{"/standin", "what is up?", "what is up?", true},
		{"/standin", "", "/help", true},
		{"/standin", "what is up?", "", false},
		{"/agentstatus", "", "/status", false},
		{"/model", "fast", "/model fast", false},
	} {
		t.Run(c.command+" "+c.text, func(t *testing.T) {
			r := newRig(t, setup{config: func(cfg *Config) { cfg.SlashCommand.Enabled = c.enabled }})
			r.s.Slash("C0OTHER", slacktest.Alice, c.command, c.text)
			all := r.handed()
			if c.want == "" {
				if len(all) != 0 {
					t.Errorf("%+v", all)
				}
				return
			}
			if len(all) != 1 {
				t.Fatalf("handed over %d times", len(all))
			}
			in := all[0]
			if in.Text != c.want || !in.Command || !in.Mentioned || in.From.ID != slacktest.Alice || in.Chat != channels.Room || in.To != r.to("C0OTHER", "") {
				t.Errorf("%+v", in)
			}
			r.send(channels.Outbound{ID: "d1", To: in.To, Kind: channels.Command, Text: "the answer", ReplyTo: in.ID, Only: slacktest.Alice})
			if got := r.s.Whispers("C0OTHER", slacktest.Alice); len(got) != 1 || got[0].Read() != "the answer" || got[0].Thread != "" {
				t.Errorf("%+v", got)
			}
			r.send(channels.Outbound{ID: "d2", To: in.To, Kind: channels.Command, Text: "for all", ReplyTo: in.ID})
			if got := r.s.Seen("C0OTHER"); got != "for all" {
				t.Errorf("%q", got)
			}
		})
	}
}

// A command in a direct chat is one of a direct chat.
func TestSlashInADirectChat(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Slash(slacktest.DM, slacktest.Alice, "/model", "")
	if in := r.next(); in.Chat != channels.Direct || in.Text != "/model" {
		t.Errorf("%+v", in)
	}
}

// Choices are buttons up to five, menus beyond; choosing sends the command, in
// the thread where they stand, and only the one they are for may use them [D17].
func TestChoices(t *testing.T) {
	for _, n := range []int{1, 5, 6, 100, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := newRig(t, setup{})
			root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
			r.next()
			out := channels.Outbound{ID: "d1", To: r.to(slacktest.General, root), Kind: channels.Command, Text: "Which model?", For: slacktest.Alice}
			for i := range n {
				out.Choices = append(out.Choices, channels.Choice{Label: fmt.Sprint("Model ", i), Text: fmt.Sprint("/model m", i)})
			}
			rc := r.send(out)
			if got := r.s.Seen(slacktest.General); got != "Which model?" {
				t.Errorf("%q", got)
			}
			for _, pick := range []int{0, n - 1} {
				if !r.s.Press(slacktest.General, rc.MessageID, slacktest.Alice, pick) {
					t.Fatalf("there is no choice %d", pick)
				}
				in := r.next()
				if in.Text != fmt.Sprint("/model m", pick) || !in.Command || in.From.ID != slacktest.Alice || in.To.Thread != root || in.Chat != channels.Room {
					t.Errorf("%+v", in)
				}
			}
			before := len(r.handed())
			r.s.Press(slacktest.General, rc.MessageID, slacktest.Bob, 0)
			r.await("the other is told", func() bool { return len(r.s.Whispers(slacktest.General, slacktest.Bob)) == 1 })
			if got := r.handed(); len(got) != before {
				t.Errorf("handed over for somebody else: %+v", got[before:])
			}
		})
	}
}

// Long labels are cut, commands that are too long for Slack are left out, and
// the text is posted whatever becomes of the choices.
func TestUnwieldyChoices(t *testing.T) {
	r := newRig(t, setup{})
	r.send(channels.Outbound{ID: "d1", To: r.to(slacktest.DM, ""), Kind: channels.Command, Text: "pick", Choices: []channels.Choice{
		{Label: strings.Repeat("ä", 200), Text: "/a"}, {Label: "b", Text: strings.Repeat("x", 200)}, {Text: "/c"}, {Label: "empty"},
	}})
	rc := r.s.Posts(slacktest.DM)[0]
	if !r.s.Press(slacktest.DM, rc.TS, slacktest.Alice, 1) {
		t.Fatal("the second choice is missing")
	}
	if in := r.next(); in.Text != "/c" || in.Chat != channels.Direct {
		t.Errorf("%+v", in)
	}
	if r.s.Press(slacktest.DM, rc.TS, slacktest.Alice, 2) {
		t.Error("there are more than two choices")
	}
}

// Interactions that are none of ours are acknowledged and nothing else.
func TestForeignInteractions(t *testing.T) {
	c := &Channel{cfg: Defaults()}
	c.self.Store(&identity{Team: slacktest.Team, App: slacktest.App})
	for _, payload := range []string{
		``, `null`, `{}`, `{"type":"view_submission"}`, `{"type":"block_actions","actions":[]}`,
		`{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"other","value":"/x"}]}`,
		`{"type":"block_actions","user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"action_id":"standin:choice:0","block_id":"else","value":"/x"}]}`,
		`{"type":"block_actions","api_app_id":"A0ELSE","user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"action_id":"standin:choice:0","block_id":"standin:for:U1","value":"/x"}]}`,
	} {
		if _, work := c.sortAction(delivery{payload: []byte(payload)}); work != nil {
			t.Errorf("taken: %s", payload)
		}
	}
}

// Nothing is sent to a response URL in the clear, but on this machine [D24].
func TestSafeURL(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://hooks.slack.com/x": true, "http://127.0.0.1:8/x": true, "http://localhost/x": true, "http://[::1]:9/x": true,
		"http://hooks.slack.com/x": false, "ftp://127.0.0.1/": false, "": false, "https://": false, "https://user@hooks.slack.com/": false, "http://127.0.0.1.evil.example/": false,
	} {
		if got := safeURL(raw); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}
