package config

import (
	"encoding/json"
	"time"

	"github.com/invopop/jsonschema"

	"standin/bot"
	"standin/bot/policy"
	"standin/fallback"
)

// document is the config file as people write it: OpenClaw's names [D16], and
// only keys that do something. The jsonschema tags are what editors show and
// what the file is judged by; newDocument has the defaults, and a test holds
// the two together.
type document struct {
	Schema   string       `json:"$schema,omitempty" jsonschema_description:"Where editors find the schema; not read."`
	Agents   agentsKeys   `json:"agents,omitempty" jsonschema_description:"Who answers, and with which models."`
	Auth     authKeys     `json:"auth,omitempty" jsonschema_description:"Which credential is used when. Secrets themselves are stored by standin, or referred to."`
	Models   modelsKeys   `json:"models,omitempty" jsonschema_description:"Providers of your own, and other settings of known ones."`
	Messages messagesKeys `json:"messages,omitempty" jsonschema_description:"What is said in the channels."`
	Session  sessionKeys  `json:"session,omitempty" jsonschema_description:"How long a conversation is one conversation."`
	Media    mediaKeys    `json:"media,omitempty" jsonschema_description:"Files that come with messages."`
	Inbox    inboxKeys    `json:"inbox,omitempty" jsonschema_description:"Messages that were accepted and not answered yet."`

	Channels    channelsKeys    `json:"channels,omitempty" jsonschema_description:"The platforms on which people meet the agents."`
	Commands    commandsKeys    `json:"commands,omitempty" jsonschema_description:"Who may give commands such as /model."`
	Bindings    []bindingKeys   `json:"bindings,omitempty" jsonschema_description:"Which agent answers where. Elsewhere the default agent does."`
	Cron        cronKeys        `json:"cron,omitempty" jsonschema_description:"Jobs that run at a time (standin cron add)."`
	Commitments commitmentsKeys `json:"commitments,omitempty" jsonschema_description:"Reminders of what was promised in passing."`
	Budgets     []budgetKeys    `json:"budgets,omitempty" jsonschema_description:"How much may be spent. Once one is used up, models that cost money are passed over."`
	Tools       toolsKeys       `json:"tools,omitempty" jsonschema_description:"What agents may do beside answering."`
	MCP         mcpKeys         `json:"mcp,omitempty" jsonschema_description:"Servers that bring more tools along."`
	Operators   operatorsKeys   `json:"operators,omitempty" jsonschema_description:"Who is told of what goes wrong."`
	Gateway     gatewayKeys     `json:"gateway,omitempty" jsonschema_description:"Where standin listens: for the operator's page and API, /healthz and /readyz, and for Slack in mode http."`
}

type agentsKeys struct {
	Defaults defaultsKeys `json:"defaults,omitempty" jsonschema_description:"Settings of every agent that has none of its own."`
	List     []agentKeys  `json:"list,omitempty" jsonschema_description:"The agents; without a list there is one, main."`
}

type defaultsKeys struct {
	Model          modelChoice         `json:"model,omitempty" jsonschema_description:"The model that answers, and those that stand in for it, in order."`
	Models         map[string]useOfOne `json:"models,omitempty" jsonschema_description:"Models that people may choose with /model: provider/model or provider/* each. Empty: any model. Fallbacks need not be listed."`
	SystemPrompt   string              `json:"systemPrompt,omitempty" jsonschema_description:"What each request tells the model first."`
	MaxConcurrent  int                 `json:"maxConcurrent,omitempty" jsonschema:"minimum=1,maximum=1000,default=4" jsonschema_description:"Turns that run at the same time; one session never runs two."`
	TimeoutSeconds int                 `json:"timeoutSeconds,omitempty" jsonschema:"minimum=0,maximum=172800,default=600" jsonschema_description:"Longest time of a turn, all candidates together, in seconds; 0: no limit."`
	Attempt        attemptKeys         `json:"attempt,omitempty" jsonschema_description:"Limits of one request to one model; after them the next model is asked."`
	HistoryLimit   int                 `json:"historyLimit,omitempty" jsonschema:"minimum=0,maximum=10000,default=50" jsonschema_description:"Earlier messages of a person that are sent along, in turns; 0: none."`

	MaxToolRounds int            `json:"maxToolRounds,omitempty" jsonschema:"minimum=1,maximum=1000,default=24" jsonschema_description:"How often a model may ask for tools within one turn; then it has to answer."`
	ContextTokens int64          `json:"contextTokens,omitempty" jsonschema:"minimum=1000,maximum=100000000" jsonschema_description:"Most tokens of a request, below what its model can hold. Default: as much as that."`
	Compaction    compactionKeys `json:"compaction,omitempty" jsonschema_description:"When a conversation that has become long is summed up."`

	mediaDefaults
	talkDefaults

	Heartbeat    heartbeatKeys `json:"heartbeat,omitempty" jsonschema_description:"Regular looks at what needs attention, without being asked. Off until every is set; it is the default agent's unless agents have a heartbeat of their own."`
	UserTimezone string        `json:"userTimezone,omitempty" jsonschema_description:"The people's time zone, such as Europe/Berlin. Default: this machine's."`
	Workspace    string        `json:"workspace,omitempty" jsonschema_description:"The folder of the agents' own files, such as HEARTBEAT.md. Agents other than the default one have it with -id behind it. Default: workspace in the state folder."`
}

type attemptKeys struct {
	Connect    Duration `json:"connectTimeout,omitempty" jsonschema:"default=10s" jsonschema_description:"Until the connection stands; 0s: no limit."`
	FirstToken Duration `json:"firstTokenTimeout,omitempty" jsonschema:"default=2m" jsonschema_description:"Until the answer begins; 0s: no limit."`
	Idle       Duration `json:"idleTimeout,omitempty" jsonschema:"default=1m" jsonschema_description:"Between two pieces of the answer; 0s: no limit."`
}

type agentKeys struct {
	ID           string      `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]{0\\,63}$" jsonschema_description:"use lower-case letters, digits, - and _, at most 64."`
	Default      bool        `json:"default,omitempty" jsonschema:"default=false" jsonschema_description:"Answers where no agent is named; otherwise the first one does."`
	Name         string      `json:"name,omitempty" jsonschema_description:"For people; the id when empty."`
	Model        modelChoice `json:"model,omitempty" jsonschema_description:"This agent's model. Without fallbacks here it is strict: no other model answers."`
	SystemPrompt *string     `json:"systemPrompt,omitempty" jsonschema_description:"Instead of agents.defaults.systemPrompt."`

	GroupChat agentGroupChat `json:"groupChat,omitempty" jsonschema_description:"This agent in rooms."`
	Heartbeat *heartbeatKeys `json:"heartbeat,omitempty" jsonschema_description:"This agent's heartbeat: key by key over agents.defaults.heartbeat. Once an agent has one, only those that have one beat."`
	Workspace string         `json:"workspace,omitempty" jsonschema_description:"The folder of this agent's own files."`

	Tools *agentToolsKeys `json:"tools,omitempty" jsonschema_description:"This agent's tools."`
}

type useOfOne struct {
	Alias string `json:"alias,omitempty" jsonschema:"pattern=^[^\\s/@]+$" jsonschema_description:"A short name for /model and for this file, one word."`
}

type authKeys struct {
	Profiles   map[string]profileKeys `json:"profiles,omitempty" jsonschema_description:"Credentials by id, such as openai:work."`
	Order      map[string][]string    `json:"order,omitempty" jsonschema_description:"The order in which a provider's profiles are used; without it they take turns."`
	OAuth      map[string]oauthKeys   `json:"oauth,omitempty" jsonschema_description:"Where logins are made, by provider. OpenAI's are built in."`
	Encryption encryptionKeys         `json:"encryption,omitempty" jsonschema_description:"Whether stored secrets are encrypted; off without one of its keys."`
	Cooldowns  cooldownKeys           `json:"cooldowns,omitempty" jsonschema_description:"How long a credential rests after a failure."`
}

type profileKeys struct {
	Provider string `json:"provider,omitempty" jsonschema_description:"The part of the id before the colon, which it must equal."`
	Mode     string `json:"mode,omitempty" jsonschema:"enum=api_key,enum=oauth,enum=token" jsonschema_description:"The type that is expected; empty: any."`
	Email    string `json:"email,omitempty" jsonschema_description:"Whose account it is, for people."`
	KeyRef   secret `json:"keyRef,omitempty" jsonschema_description:"Where the secret is; without it, it is one that standin has stored."`
}

type encryptionKeys struct {
	KeyFile       string `json:"keyFile,omitempty" jsonschema_description:"The file that holds the key, relative to the config file; standin auth seal makes it."`
	PassphraseEnv string `json:"passphraseEnv,omitempty" jsonschema_description:"The environment variable that holds a passphrase, in place of a key file."`
}

type cooldownKeys struct {
	BillingBackoffHours           float64            `json:"billingBackoffHours,omitempty" jsonschema:"exclusiveMinimum=0,maximum=8760,default=5" jsonschema_description:"Rest after a billing failure, in hours; doubles each time."`
	BillingBackoffHoursByProvider map[string]float64 `json:"billingBackoffHoursByProvider,omitempty" jsonschema_description:"The same for single providers, in hours."`
	BillingMaxHours               float64            `json:"billingMaxHours,omitempty" jsonschema:"exclusiveMinimum=0,maximum=8760,default=24" jsonschema_description:"Longest rest after billing failures, in hours."`
	AuthPermanentBackoffMinutes   float64            `json:"authPermanentBackoffMinutes,omitempty" jsonschema:"exclusiveMinimum=0,maximum=525600,default=10" jsonschema_description:"Rest after a credential was refused for good, in minutes; doubles each time."`
	AuthPermanentMaxMinutes       float64            `json:"authPermanentMaxMinutes,omitempty" jsonschema:"exclusiveMinimum=0,maximum=525600,default=60" jsonschema_description:"Longest rest after such refusals, in minutes."`
	FailureWindowHours            float64            `json:"failureWindowHours,omitempty" jsonschema:"exclusiveMinimum=0,maximum=8760,default=24" jsonschema_description:"After so many hours without a failure the rests start from the shortest again."`
	OverloadedProfileRotations    int                `json:"overloadedProfileRotations,omitempty" jsonschema:"minimum=0,maximum=100,default=1" jsonschema_description:"Other profiles that are tried when a provider is overloaded, before the next model."`
	OverloadedBackoffMs           int                `json:"overloadedBackoffMs,omitempty" jsonschema:"minimum=0,maximum=60000,default=0" jsonschema_description:"Wait before such a try, in milliseconds."`
	RateLimitedProfileRotations   int                `json:"rateLimitedProfileRotations,omitempty" jsonschema:"minimum=0,maximum=100,default=1" jsonschema_description:"Other profiles that are tried after a rate limit, before the next model."`
}

type modelsKeys struct {
	Providers map[string]providerKeys `json:"providers,omitempty" jsonschema_description:"By provider id, the part of a model's name before the slash."`
}

type providerKeys struct {
	BaseURL string            `json:"baseUrl,omitempty" jsonschema_description:"Where it is reached. With /v1 for the OpenAI protocols, without for Anthropic's. Plain http only on this machine."`
	API     string            `json:"api,omitempty" jsonschema:"enum=openai-completions,enum=openai-responses,enum=anthropic-messages" jsonschema_description:"The protocol it speaks. Default: the vendor's own, openai-completions for providers of yours."`
	APIKey  secret            `json:"apiKey,omitempty" jsonschema_description:"Its key. Default: the vendor's usual variable."`
	Headers map[string]string `json:"headers,omitempty" jsonschema_description:"Sent along with every request."`
	Models  []modelEntry      `json:"models,omitempty" jsonschema_description:"The models it has. With a list, any other name is an error."`
}

type messagesKeys struct {
	FallbackNotices  string   `json:"fallbackNotices,omitempty" jsonschema:"enum=all,enum=direct,enum=off,default=all" jsonschema_description:"Where a change of model is announced: everywhere, only in direct messages, nowhere."`
	FallbackReminder Duration `json:"fallbackReminder,omitempty" jsonschema_description:"While a session stays on a stand-in, one line repeats it after each such stretch, such as 2h. Default: never."`

	ResponsePrefix      string        `json:"responsePrefix,omitempty" jsonschema_description:"What stands in front of answers; auto is the agent's name in brackets. {model}, {provider}, {modelFull} and {identity.name} are filled in."`
	VisibleReplies      string        `json:"visibleReplies,omitempty" jsonschema:"enum=automatic,enum=message_tool,default=automatic" jsonschema_description:"What of a turn is posted: its final text, or only what the agent sends with its tool message. Without that tool, the final text."`
	AckReaction         *string       `json:"ackReaction,omitempty" jsonschema_description:"Emoji that marks a message as being worked on, where a channel has none of its own; empty for none. A character or its name."`
	AckReactionScope    string        `json:"ackReactionScope,omitempty" jsonschema:"enum=group-mentions,enum=group-all,enum=direct,enum=all,enum=off,default=group-mentions" jsonschema_description:"Which messages get it, where a channel does not say."`
	RemoveAckAfterReply bool          `json:"removeAckAfterReply,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it is taken away with the answer, where a channel does not say."`
	Queue               queueKeys     `json:"queue,omitempty" jsonschema_description:"Messages that come while their session is being answered."`
	Inbound             inboundKeys   `json:"inbound,omitempty" jsonschema_description:"Messages that belong together."`
	TTS                 voiceKeys     `json:"tts,omitempty" jsonschema_description:"Answers spoken aloud, beside their text."`
	GroupChat           groupChatKeys `json:"groupChat,omitempty" jsonschema_description:"Rooms of every channel."`
}

type sessionKeys struct {
	ResetTriggers   []string `json:"resetTriggers,omitempty" jsonschema_description:"Words that begin a new conversation as /new does."`
	ResetKeepsModel bool     `json:"resetKeepsModel,omitempty" jsonschema:"default=true" jsonschema_description:"Whether /new and /reset keep a model that was chosen with /model."`

	DMScope        string               `json:"dmScope,omitempty" jsonschema:"enum=main,enum=per-peer,enum=per-channel-peer,enum=per-account-channel-peer,default=main" jsonschema_description:"Which direct chats are one session: all of an agent's, or those of one person, on one channel, with one account."`
	IdentityLinks  map[string][]string  `json:"identityLinks,omitempty" jsonschema_description:"One person's ids on several channels (slack:U1, discord:2) under one name. Not used with dmScope main."`
	Reset          *resetKeys           `json:"reset,omitempty" jsonschema_description:"When a session is over by itself; the next message then starts a new one, also without a model that was chosen. Default: daily at 4."`
	ResetByType    resetByTypeKeys      `json:"resetByType,omitempty" jsonschema_description:"The same by the kind of chat."`
	ResetByChannel map[string]resetKeys `json:"resetByChannel,omitempty" jsonschema_description:"The same by channel; it counts before resetByType."`

	SendPolicy  sendPolicyKeys  `json:"sendPolicy,omitempty" jsonschema_description:"In which conversations answers are posted at all. /send in one counts before it."`
	Maintenance maintenanceKeys `json:"maintenance,omitempty" jsonschema_description:"How long conversations are kept."`
}

type inboxKeys struct {
	ReplayMaxAge Duration `json:"replayMaxAge,omitempty" jsonschema:"default=15m" jsonschema_description:"A message that waited longer than this while standin was down is not answered; its sender is told."`
}

// newDocument is an empty file: every default.
func newDocument() document {
	b, c := bot.Defaults(), fallback.DefaultCooldowns()
	return document{
		Agents: agentsKeys{Defaults: defaultsKeys{
			MaxConcurrent:  b.MaxConcurrent,
			TimeoutSeconds: 600,
			HistoryLimit:   b.HistoryTurns,
			MaxToolRounds:  24,
			Compaction:     usualCompaction(),
			Heartbeat:      usualHeartbeat(),
			mediaDefaults:  usualMediaDefaults(),
			talkDefaults:   usualTalk(),
			Attempt: attemptKeys{ // D23
				Connect:    Duration(10 * time.Second),
				FirstToken: Duration(120 * time.Second),
				Idle:       Duration(60 * time.Second),
			},
		}},
		Auth: authKeys{Cooldowns: cooldownKeys{
			BillingBackoffHours:         c.BillingBackoff.Hours(),
			BillingMaxHours:             c.BillingMax.Hours(),
			AuthPermanentBackoffMinutes: c.AuthPermanentBackoff.Minutes(),
			AuthPermanentMaxMinutes:     c.AuthPermanentMax.Minutes(),
			FailureWindowHours:          c.FailureWindow.Hours(),
			OverloadedProfileRotations:  c.OverloadedProfileRotation,
			OverloadedBackoffMs:         int(c.OverloadedBackoff / time.Millisecond),
			RateLimitedProfileRotations: c.RateLimitedRotation,
		}},
		Messages: messagesKeys{
			TTS:             usualVoice(),
			VisibleReplies:  string(policy.RepliesAutomatic),
			FallbackNotices: string(b.Notices),
			Queue:           queueKeys{Mode: string(policy.Steer), Cap: 20, Drop: string(policy.Summarize), DebounceMs: 500}, // [S25]
		},
		Session:     sessionKeys{ResetKeepsModel: b.ResetKeepsModel, DMScope: string(policy.ScopeMain)},
		Media:       usualMedia(),
		Inbox:       inboxKeys{ReplayMaxAge: Duration(b.ReplayMaxAge)},
		Channels:    channelsKeys{Defaults: channelDefaults{GroupPolicy: string(policy.GroupAllowlist)}},
		Cron:        usualCron(),
		Commitments: usualCommitments(),
		Tools:       usualTools(),
		Operators:   usualOperators(),
		Gateway:     gatewayKeys{Bind: bindLoopback, Metrics: true},
	}
}

// modelChoice is a model, or a primary with its fallbacks [M4, M5].
type modelChoice struct {
	Primary   string
	Fallbacks []string
	Listed    bool // fallbacks was written
	Text      bool // written as one text
}

// UnmarshalJSON reads both forms.
func (m *modelChoice) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		m.Text = true
		return json.Unmarshal(data, &m.Primary)
	}
	var o struct {
		Primary   string    `json:"primary"`
		Fallbacks *[]string `json:"fallbacks"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	m.Primary = o.Primary
	if m.Listed = o.Fallbacks != nil; m.Listed {
		m.Fallbacks = *o.Fallbacks
	}
	return nil
}

// JSONSchema describes both forms.
func (modelChoice) JSONSchema() *jsonschema.Schema {
	ref := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: about}
	}
	o := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	o.Properties.Set("primary", ref("provider/model or an alias: asked first."))
	o.Properties.Set("fallbacks", &jsonschema.Schema{Type: "array", Items: ref("provider/model or an alias."), Description: "Asked in this order when the ones before fail; []: none."})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{ref("provider/model or an alias."), o}}
}

// secret is a text that may come from a variable, or a reference to where the
// secret is [G6]. It is resolved once, when the file is read.
type secret struct {
	Text   string
	Source string // env or file, "" for a text
	ID     string // name of the variable, or path of the file
}

func (s secret) given() bool { return s != secret{} }

// UnmarshalJSON reads both forms.
func (s *secret) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &s.Text)
	}
	var o struct{ Source, ID string }
	err := json.Unmarshal(data, &o)
	s.Source, s.ID = o.Source, o.ID
	return err
}

// JSONSchema describes both forms.
func (secret) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	o := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, Required: []string{"source", "id"}}
	o.Properties.Set("source", &jsonschema.Schema{Type: "string", Enum: []any{"env", "file"}, Description: "env: a variable; file: the text of a file."})
	o.Properties.Set("id", &jsonschema.Schema{Type: "string", MinLength: &one, Description: "Name of the variable, or path of the file (relative to the config file)."})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string", MinLength: &one, Description: "Better ${VARIABLE} than the secret itself."}, o,
	}}
}

// Duration is a Go duration such as "90s" or "1h30m".
type Duration time.Duration

// UnmarshalJSON reads the text form.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// JSONSchema describes the text form.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "go-duration", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
}
