package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// Finding is one thing that Check looked at.
type Finding struct {
	What string // what was looked at, in a few words
	OK   bool
	Say  string // what was found
	Mend string // what to do, "" when OK
}

// Check looks at an account as an operator would: the tokens, the scopes of the
// bot token, whether a socket would be given (none is opened), and, when postTo
// is not "", whether a message could be posted there (none is). It prints no
// token and changes nothing. The error is ctx's.
func Check(ctx context.Context, o Options, postTo string) ([]Finding, error) {
	var all []Finding
	bad := func(what, say, mend string) { all = append(all, Finding{What: what, Say: say, Mend: mend}) }
	good := func(what, say string) { all = append(all, Finding{What: what, OK: true, Say: say}) }

	c, err := New(o)
	if err != nil {
		bad("settings", strings.ReplaceAll(err.Error(), "\n", "; "), "mend channels.slack")
		return all, nil
	}
	good("settings", "complete")
	failed := func(what string, err error) {
		mend := "see whether " + c.cfg.APIURL + " can be reached from here"
		if known, ok := mends[codeOf(err)]; ok {
			mend = known
		}
		bad(what, reasonOf(err), mend)
	}
	who, err := c.checkCall(ctx, c.api.AuthTestContext)
	if err != nil {
		failed("bot token", err)
		return all, ctx.Err()
	}
	good("bot token", fmt.Sprintf("%s in %s", who.User, who.Team))
	c.self.Store(&identity{User: who.UserID, Bot: who.BotID, Team: who.TeamID})

	if given := who.Header.Get("X-OAuth-Scopes"); given == "" {
		good("scopes", "Slack does not tell them")
	} else if missing := lacking(given); len(missing) > 0 {
		bad("scopes", "missing: "+strings.Join(missing, ", "), "apply the manifest again and reinstall the app")
	} else {
		good("scopes", fmt.Sprintf("all %d", len(scopes)))
	}
	if c.cfg.Mode == modeSocket {
		_, err := c.checkCall(ctx, func(ctx context.Context) (*slackapi.AuthTestResponse, error) {
			_, err := c.ticket(ctx)
			return nil, err
		})
		if err != nil {
			failed("app token", err)
		} else {
			good("app token", "Slack would give a socket")
		}
	}
	if postTo != "" {
		if say, mend := c.checkPosting(ctx, postTo); mend != "" {
			bad("posting to "+postTo, say, mend)
		} else {
			good("posting to "+postTo, say)
		}
	}
	return all, ctx.Err()
}

// checkCall gives a call its time.
func (c *Channel) checkCall(ctx context.Context, call func(context.Context) (*slackapi.AuthTestResponse, error)) (*slackapi.AuthTestResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	return call(ctx)
}

// lacking gives the scopes that are needed and not among the given ones.
func lacking(given string) []string {
	var have []string
	for s := range strings.SplitSeq(given, ",") {
		have = append(have, strings.TrimSpace(s))
	}
	var missing []string
	for _, s := range scopes {
		if !slices.Contains(have, s) {
			missing = append(missing, s)
		}
	}
	return missing
}

// checkPosting tells whether the bot may write somewhere, without writing.
func (c *Channel) checkPosting(ctx context.Context, conversation string) (say, mend string) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	info, err := c.api.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: conversation})
	switch {
	case codeOf(err) == "channel_not_found":
		return "there is no such conversation, or the bot cannot see it", "use the id (C…, G…, D…), and invite the bot"
	case err != nil:
		if known, ok := mends[codeOf(err)]; ok {
			return reasonOf(err), known
		}
		return reasonOf(err), "try again"
	case info.IsArchived:
		return "it is archived", "choose another"
	}
	if info.IsIM {
		return "a direct chat", ""
	}
	member, err := c.Member(ctx, channels.Address{Conversation: conversation}, c.self.Load().User)
	if err != nil {
		return reasonOf(err), "try again"
	}
	if !member {
		return "the bot is not a member", "invite it there"
	}
	return "the bot is a member", ""
}
