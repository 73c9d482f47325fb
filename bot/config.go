package bot

import (
	"time"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/fallback"
	"standin/fallback/provider"
)

// Config is the compiled settings of this room. It is immutable: a turn keeps
// the one it started with, a reload hands out a new one [G9].
type Config struct {
	Fallback     *fallback.Config
	DefaultAgent fallback.AgentID
	Agents       map[fallback.AgentID]AgentConfig
	// MaxConcurrent bounds the turns that run side by side over all sessions
	// (agents.defaults.maxConcurrent) [S28].
	MaxConcurrent int
	// HistoryTurns is how many of the user's turns a model sees again
	// (historyLimit) [S17]; 0: none.
	HistoryTurns int
	// ReplayMaxAge: an older message that was accepted but never ended is not
	// run at start-up (inbox.replayMaxAge) [D21]; 0: no limit.
	ReplayMaxAge time.Duration
	// Notices says where fallback notices are shown (messages.fallbackNotices) [D12].
	Notices Notices
	// Reminder repeats one line while a session stays on a stand-in, with the
	// first answer after each such stretch (messages.fallbackReminder); 0: never.
	Reminder time.Duration
	// ResetKeepsModel: /new and /reset leave a user's model in place
	// (session.resetKeepsModel) [D4].
	ResetKeepsModel bool
	// ResetTriggers are words that count as /new, beside it (session.resetTriggers) [S10].
	ResetTriggers []string
	// Rules are those of platforms with many people; the zero value asks nothing.
	Rules policy.Rules
	// DrainTimeout is how long Stop lets running turns finish.
	DrainTimeout time.Duration
	// Compaction says when a conversation is summarised, CompactionModel who does
	// it; zero: the session's own (agents.defaults.compaction). ContextTokens is a
	// bound below the model's own window, 0 none [S19, S20].
	Compaction      policy.Compaction
	CompactionModel fallback.Model
	ContextTokens   int64
	// Voice says which answers are spoken (messages.tts) [G39].
	Voice Voice
	// Think is how much models think (agents.defaults.thinkingDefault), Verbose
	// whether the tools of a turn are told (verboseDefault), where the session does
	// not say.
	Think   provider.Effort
	Verbose VerboseLevel
	// Media bounds what is made of files that come with messages [G40].
	Media MediaConfig
	// Tools bound what a turn's model may use (tools.*) [G36].
	Tools ToolConfig
	// Commitments are reminders that nobody asked for in so many words [M14].
	Commitments Commitments
	// Version of the daemon, for /status.
	Version string
}

// AgentConfig is what the bot knows of an agent.
type AgentConfig struct {
	Name   string // for people
	System string // system prompt, "" for none
	// Workspace is the agent's folder, "" for none [G34].
	Workspace string
	// Tools says which tools it has (tools.allow, tools.deny, agents.list[].tools).
	Tools tools.Policy
	// Zone is where its people live (userTimezone), nil: the machine's.
	Zone *time.Location
}

// ToolConfig is tools.
type ToolConfig struct {
	On     bool // models are offered tools at all (tools.enabled)
	Limits tools.Limits
}

// Notices says on which surfaces fallback notices appear [D12].
type Notices string

// The choices of messages.fallbackNotices.
const (
	NoticesAll    Notices = "all"
	NoticesDirect Notices = "direct" // in direct chats only
	NoticesOff    Notices = "off"
)

// Defaults are the settings of an empty file, without models.
func Defaults() Config {
	return Config{
		DefaultAgent:    "main",
		MaxConcurrent:   4,
		HistoryTurns:    50,
		ReplayMaxAge:    15 * time.Minute,
		Notices:         NoticesAll,
		ResetKeepsModel: true,
		DrainTimeout:    20 * time.Second,
		Verbose:         VerboseOff,
		Media:           MediaConfig{MaxBytes: 5 << 20, Keep: 7 * 24 * time.Hour},
		Tools:           ToolConfig{On: true, Limits: tools.DefaultLimits},
	}
}
