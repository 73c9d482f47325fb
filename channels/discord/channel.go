// Package discord is the adapter of Discord: it turns Discord's events into
// channels.Inbound and channels.Outbound into messages. It is the home of
// discordgo (the REST API and the types of the wire) and of the gateway's socket.
//
// It knows the platform and decides nothing: who may speak, what is addressed
// and which post gets the reply slot is package bot's. A message enters at
// intake.event (intake.go), is read in inbound.go, and handed to the Receiver in
// the order of its conversation (intake.go). A slash command or a click enters
// beside it (interaction.go) and is acknowledged within Discord's three seconds.
// An answer leaves through send.go; outcome.go says how sure we are of it, and
// find.go looks when we are not [I2].
//
// gateway.go keeps the connection, link.go is one; rest.go calls the API within
// limits.go. Discord has no acknowledgement for events: what was handed over
// before a crash is the Receiver's, and what came while nobody listened is read
// again where that is possible (catchup.go).
package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// Name is the channel part of the adapter's addresses.
const Name = "discord"

// Options are what a Channel works with.
type Options struct {
	Config  Config
	Account string          // account id, "" the default one; part of each Address
	Token   channels.Secret // of the bot, with or without "Bot " in front
	// Commands are registered as slash commands when Config.NativeCommands says so.
	Commands []Command
	// Known gives the last message that was taken from each conversation, so that
	// what was said while the daemon was down can be read again; nil: unknown.
	Known func(ctx context.Context) (map[string]string, error)

	// Standing tells how the agent's models are, for Config.AutoPresence; nil: the
	// bot is simply online.
	Standing func(ctx context.Context) (s channels.Standing, why string)

	HTTP http.RoundTripper // nil: a transport of its own
	Log  *slog.Logger      // nil: silent
	Now  func() time.Time  // nil: time.Now
}

// Channel is one Discord bot. It is made by New; its methods may be called from
// many goroutines. It implements channels.Channel, Finder, Drafter and Reporter.
type Channel struct {
	opt  Options
	cfg  Config
	log  *slog.Logger
	now  func() time.Time
	pace pace
	api  *api
	http http.RoundTripper

	vitals *vitals
	self   atomic.Pointer[identity] // nil until READY
	intake atomic.Pointer[intake]   // nil while Run is not running
	line   atomic.Pointer[link]     // the connection that is ready, nil without
	places *places

	seen       *channels.Recent[string, struct{}]     // messages that were taken, by id [D8]
	facts      *channels.Recent[string, fact]         // of messages that were taken, by id, for reactions
	last       *channels.Recent[string, string]       // last message of each conversation, for catchUp
	posts      *channels.Recent[string, *progress]    // deliveries by id [I2]
	latest     *channels.Recent[string, string]       // our last message of each conversation [N31]
	claims     *channels.Recent[string, string]       // deliveries by the message that they became
	echoes     *channels.Recent[string, string]       // message ids by nonce, as the gateway tells of our own posts
	asked      *channels.Recent[string, *interaction] // interactions that can be answered, by id
	acks       *channels.Recent[string, string]       // conversations by message that bears our reaction
	unopened   *channels.Recent[string, opening]      // threads that the first post in them opens, by id
	drafts     *drafts
	registered atomic.Bool  // the slash commands are as they should be
	silent     atomic.Int64 // messages without text in a row: a missing intent shows so
}

// identity is who the bot is.
type identity struct{ user, name, application string }

// fact is what a reaction has to know of a message.
type fact struct {
	conversation string
	direct       bool
	mentioned    bool
}

// New makes a channel. Nothing is connected before Run.
func New(o Options) (*Channel, error) {
	if faults := o.Config.Validate(); len(faults) > 0 {
		return nil, fmt.Errorf("channels.discord: %w", errors.Join(faults...))
	}
	if o.Token.Empty() {
		return nil, errors.New("channels.discord.token: a token is needed; copy it from Discord's developer portal, page Bot")
	}
	return newChannel(o, normalPace(o.Config))
}

func newChannel(o Options, p pace) (*Channel, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.HTTP == nil {
		o.HTTP = http.DefaultTransport.(*http.Transport).Clone()
	}
	api, err := newAPI(o.Config.APIURL, o.Token, o.HTTP, p, o.Now)
	if err != nil {
		return nil, err
	}
	c := &Channel{
		opt: o, cfg: o.Config, log: o.Log.With("channel", Name, "account", o.Account), now: o.Now, pace: p, api: api, http: o.HTTP,
		vitals:   newVitals(o.Now),
		seen:     channels.NewRecent[string, struct{}](5000, 5*time.Minute), // [D8]
		facts:    channels.NewRecent[string, fact](5000, time.Hour),
		last:     channels.NewRecent[string, string](2000, 24*time.Hour),
		posts:    channels.NewRecent[string, *progress](5000, time.Hour),
		latest:   channels.NewRecent[string, string](5000, time.Hour),
		claims:   channels.NewRecent[string, string](5000, time.Hour),
		echoes:   channels.NewRecent[string, string](5000, time.Hour),
		asked:    channels.NewRecent[string, *interaction](2000, p.interact),
		acks:     channels.NewRecent[string, string](2000, time.Hour),
		unopened: channels.NewRecent[string, opening](2000, 24*time.Hour),
	}
	c.places = newPlaces(c)
	c.drafts = newDrafts(c)
	return c, nil
}

// Name implements channels.Channel.
func (c *Channel) Name() string { return Name }

// Health tells how the connection is.
func (c *Channel) Health() channels.Health { return c.vitals.read() }

// Run implements channels.Channel: it stays connected until ctx ends, or until
// Discord refuses the bot for good, which a *Fatal tells. What was received by
// then has been handed over or given up when it returns.
func (c *Channel) Run(ctx context.Context, receive channels.Receiver) error {
	in := newIntake(c, receive)
	if !c.intake.CompareAndSwap(nil, in) {
		return errors.New("discord: the channel is run twice")
	}
	defer c.intake.Store(nil)
	c.recall(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer in.wait()
	defer cancel()
	in.beside(ctx, c.present)
	g := &gateway{
		api: c.api, token: c.opt.Token, intents: intentsOf(c.cfg), pace: c.pace, log: c.log, now: c.now,
		vitals: c.vitals, line: &c.line, handle: func(ev discordgo.Event) { in.event(ctx, ev) },
	}
	return g.run(ctx)
}

// address is where something of a conversation is said.
func (c *Channel) address(conversation string) channels.Address {
	return channels.Address{Channel: Name, Account: c.opt.Account, Conversation: conversation}
}

// me tells whether a user is the bot itself.
func (c *Channel) me(user string) bool {
	self := c.self.Load()
	return self != nil && self.user == user
}

// meet learns from READY who the bot is.
func (c *Channel) meet(raw json.RawMessage) {
	var r struct {
		User        struct{ ID, Username string }
		Application struct{ ID string }
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.User.ID == "" {
		c.log.Error("READY does not say who the bot is", "err", err)
		return
	}
	c.self.Store(&identity{user: r.User.ID, name: r.User.Username, application: r.Application.ID})
	c.log.Info("discord is ready", "bot", r.User.Username, "id", r.User.ID)
}
