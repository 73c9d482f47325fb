package config

import "standin/bot"

// commitmentsKeys is commitments: reminders that nobody asked for in so many words.
type commitmentsKeys struct {
	Enabled   bool   `json:"enabled,omitempty" jsonschema:"default=false" jsonschema_description:"Whether answered turns of direct chats are looked through for promises and appointments, which become reminders. A model is called for each such turn."`
	MaxPerDay int    `json:"maxPerDay,omitempty" jsonschema:"minimum=1,maximum=100,default=3" jsonschema_description:"How many reminders one chat gets of it in 24 hours."`
	Model     string `json:"model,omitempty" jsonschema_description:"Who looks; no other stands in for it. Default: the models of the session."`
}

// usualCommitments are the keys of an empty block.
func usualCommitments() commitmentsKeys { return commitmentsKeys{MaxPerDay: 3} }

// readCommitments reads commitments.
func (c *compiler) readCommitments(b *bot.Config) {
	k := c.doc.Commitments
	b.Commitments = bot.Commitments{On: k.Enabled, PerDay: k.MaxPerDay}
	if k.Model != "" {
		b.Commitments.Model, _ = c.model(k.Model, Path{"commitments", "model"}, b.Fallback.Default.Primary.Provider)
	}
}
