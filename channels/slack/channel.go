// Package slack is the adapter of Slack: it turns Slack's events into
// channels.Inbound and channels.Outbound into posts. It is the home of slack-go
// (the Web API and its types) and of the socket.
//
// It knows the platform and decides nothing: who may speak, what is addressed
// and which post gets the reply slot is package bot's. A message enters at
// Channel.take (socket.go, http.go), is read in event.go and inbound.go, handed
// to the Receiver, and acknowledged to Slack once that has made it durable [I1].
// An answer leaves through send.go; outcome.go says how sure we are of it, and
// find.go looks when we are not [I2].
//
// The socket is our own loop over Slack's Socket Mode protocol (socket.go):
// slack-go's managed one hides why it was disconnected, sends no pings, gives
// acknowledgements no result and ends the process's only connection for good
// on some errors, and each of these is needed here [SL3].
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// Name is the channel part of the adapter's addresses.
const Name = "slack"

// Options are what a Channel works with.
type Options struct {
	Config  Config
	Account string // account id, "" the default one; part of each Address

	Bot     channels.Secret // xoxb-…: Web API
	App     channels.Secret // xapp-…: socket mode
	Signing channels.Secret // signing secret: http mode

	HTTP *http.Client     // for the Web API and files; nil: one of its own
	Log  *slog.Logger     // nil: silent
	Now  func() time.Time // nil: time.Now
}

// Channel is one Slack account. It is made by New; its methods may be called
// from many goroutines. It implements channels.Channel, Finder, Drafter and
// Reporter.
type Channel struct {
	opt  Options
	cfg  Config
	log  *slog.Logger
	now  func() time.Time
	pace pace
	http *http.Client
	api  *slackapi.Client

	vitals vitals
	self   atomic.Pointer[identity] // nil until Slack has told it
	intake atomic.Pointer[intake]   // nil while Run is not running

	seen    *channels.Recent[string, struct{}]          // messages that were handed over [SL14]
	ambient *channels.Recent[string, struct{}]          // messages handed over without a mention [SL13]
	facts   *channels.Recent[string, fact]              // of handed over messages, for reactions
	replies *channels.Recent[string, string]            // response URLs by inbound id [SL28]
	names   *channels.Recent[string, string]            // display names by user id
	kinds   *channels.Recent[string, channels.ChatType] // of conversations
	threads *channels.Recent[string, bool]              // whether the bot takes part, by conversation and thread [SL12]
	parents *channels.Recent[string, string]            // thread by message [SL17]
	groups  *channels.Recent[string, bool]              // whether a user group contains the bot
	acks    *channels.Recent[string, string]            // messages with the ack reaction, by place
	posts   *channels.Recent[string, *progress]         // deliveries by id [I2]
	latest  *channels.Recent[string, string]            // our last post by place [N31]
	members *channels.Recent[string, []string]          // of rooms, for a minute [SL15]
	drafts  *drafts
}

// identity is who the bot is.
type identity struct {
	User, Bot, Team, Enterprise, App string
}

// pace are the times of the connection. They are fields only so that tests need
// not wait.
type pace struct {
	first, longest time.Duration // back-off: 2 s to 30 s, factor 1.8, jitter 0.25 [SL3]
	stable         time.Duration // a connection that lived so long starts the back-off anew
	hello          time.Duration // the longest wait for Slack's hello
	ping, pong     time.Duration // our pings, and the longest silence after which a socket counts as dead [SL3]
	quiet          time.Duration // without any event for so long, the socket is replaced to be sure
	late           time.Duration // how long an acknowledgement waits for a socket
	call           time.Duration // one call of the Web API
	again          time.Duration // before a look-up that a message waits for is tried again, doubling
	update         time.Duration // between two edits of a draft [SL25]
	durable        time.Duration // http mode: how long a request waits for its message to be durable [SL2]
}

func defaultPace() pace {
	return pace{
		first: 2 * time.Second, longest: 30 * time.Second, stable: 20 * time.Second,
		hello: 15 * time.Second, ping: 5 * time.Second, pong: 15 * time.Second, quiet: 30 * time.Minute,
		late: 30 * time.Second, call: 20 * time.Second, again: time.Second, update: time.Second, durable: 2500 * time.Millisecond,
	}
}

// New makes a channel; nothing is connected before Run. The error names what is
// missing or malformed and holds no token.
func New(o Options) (*Channel, error) {
	if faults := o.Config.Validate(); len(faults) > 0 {
		return nil, fmt.Errorf("channels.slack: %w", errors.Join(faults...))
	}
	if err := checkTokens(o); err != nil {
		return nil, fmt.Errorf("channels.slack: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Channel{
		opt: o, cfg: o.Config, log: o.Log.With("channel", Name, "account", o.Account), now: o.Now,
		pace: defaultPace(), http: newHTTPClient(o.HTTP),
		seen:    channels.NewRecent[string, struct{}](20_000, 24*time.Hour),
		ambient: channels.NewRecent[string, struct{}](2_000, time.Minute),
		facts:   channels.NewRecent[string, fact](2_000, time.Hour),
		replies: channels.NewRecent[string, string](1_000, 29*time.Minute), // Slack takes them for 30
		names:   channels.NewRecent[string, string](5_000, time.Hour),
		kinds:   channels.NewRecent[string, channels.ChatType](5_000, time.Hour),
		threads: channels.NewRecent[string, bool](5_000, 24*time.Hour),
		parents: channels.NewRecent[string, string](1_000, time.Minute),
		groups:  channels.NewRecent[string, bool](500, 10*time.Minute),
		acks:    channels.NewRecent[string, string](2_000, 24*time.Hour),
		posts:   channels.NewRecent[string, *progress](4_096, 24*time.Hour),
		latest:  channels.NewRecent[string, string](4_096, time.Hour),
		members: channels.NewRecent[string, []string](500, time.Minute),
	}
	c.drafts = newDrafts(c)
	c.vitals.now = o.Now
	c.vitals.enter(channels.Connecting, "not started", "")
	c.api = slackapi.New(o.Bot.Reveal(),
		slackapi.OptionAPIURL(c.apiURL()), slackapi.OptionHTTPClient(c.http),
		slackapi.OptionAppLevelToken(o.App.Reveal()))
	return c, nil
}

// checkTokens wants the tokens of the mode, each of its kind.
func checkTokens(o Options) error {
	var faults []error
	want := func(key string, s channels.Secret, prefix string) {
		switch {
		case s.Empty():
			faults = append(faults, fmt.Errorf("%s: is missing", key))
		case !strings.HasPrefix(s.Reveal(), prefix):
			faults = append(faults, fmt.Errorf("%s: does not begin with %s, so it is another kind of token", key, prefix))
		}
	}
	want("botToken", o.Bot, "xoxb-")
	if o.Config.Mode == modeSocket {
		want("appToken", o.App, "xapp-")
	} else {
		want("signingSecret", o.Signing, "")
	}
	return errors.Join(faults...)
}

func (c *Channel) apiURL() string { return strings.TrimSuffix(c.cfg.APIURL, "/") + "/" }

// Name implements channels.Channel.
func (c *Channel) Name() string { return Name }

// Config gives the settings it was made with.
func (c *Channel) Config() Config { return c.cfg }

// Health tells how the channel is.
func (c *Channel) Health() channels.Health { return c.vitals.read() }

// Run implements channels.Channel: it connects and hands each message to
// receive, in order per conversation, until ctx ends. It returns ctx's error,
// or a *Fatal when Slack refuses the credential; whatever else breaks is
// mended by connecting again.
func (c *Channel) Run(ctx context.Context, receive channels.Receiver) error {
	ctx, cancel := context.WithCancel(ctx)
	in := newIntake(ctx, c, receive)
	if !c.intake.CompareAndSwap(nil, in) {
		cancel()
		return errors.New("slack: the channel is run twice")
	}
	defer func() {
		cancel()
		in.wait()
		c.intake.Store(nil)
	}()
	err := c.authenticate(ctx)
	if err == nil {
		if c.cfg.Mode == modeHTTP {
			c.vitals.enter(channels.Ready, "", "")
			<-ctx.Done()
			err = ctx.Err()
		} else {
			err = c.runSocket(ctx)
		}
	}
	var fatal *Fatal
	if errors.As(err, &fatal) {
		c.vitals.enter(channels.Down, fatal.Code, fatal.Mend)
		c.log.Error("slack refuses the credential, the channel stays off", "code", fatal.Code, "mend", fatal.Mend)
		return fatal
	}
	c.vitals.enter(channels.Reconnecting, "stopped", "")
	return err
}

// authenticate asks who we are until Slack answers.
func (c *Channel) authenticate(ctx context.Context) error {
	for try := 0; ; try++ {
		callCtx, cancel := context.WithTimeout(ctx, c.pace.call)
		who, err := c.api.AuthTestContext(callCtx)
		cancel()
		if err == nil {
			id := identity{User: who.UserID, Bot: who.BotID, Team: who.TeamID, Enterprise: who.EnterpriseID, App: appOf(c.opt.App)}
			c.self.Store(&id)
			c.log.Info("slack knows us", "user", id.User, "team", who.Team)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fatal := asFatal(err); fatal != nil {
			return fatal
		}
		wait := max(backoff(c.pace, try), retryAfter(err))
		if c.vitals.enter(channels.Connecting, reasonOf(err), "") || try == 0 {
			c.log.Warn("slack cannot be reached, trying again", "reason", reasonOf(err), "next", wait)
		}
		if channels.Sleep(ctx, wait) != nil {
			return ctx.Err()
		}
	}
}

// appOf reads the app's id out of its token (xapp-1-A0123456789-…), "" when it
// has another shape.
func appOf(app channels.Secret) string {
	if parts := strings.Split(app.Reveal(), "-"); len(parts) >= 4 && strings.HasPrefix(parts[2], "A") {
		return parts[2]
	}
	return ""
}
