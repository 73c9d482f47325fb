package operator

import (
	"encoding/json"

	"standin/bot"
)

// credentialStory is a credential with what was done to it by hand.
type credentialStory struct {
	bot.CredentialStory
}

// jobSpec is a job as it is written, or a part of one.
type jobSpec json.RawMessage
