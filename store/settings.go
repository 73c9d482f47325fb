package store

import (
	"encoding/json"

	"standin/bot"
	"standin/fallback"
)

// settings is the column of bot.Settings.
type settings struct {
	Think      string `json:"think,omitempty"`
	Verbose    string `json:"verbose,omitempty"`
	Usage      string `json:"usage,omitempty"`
	Activation string `json:"activation,omitempty"`
	Label      string `json:"label,omitempty"`
}

// readSettings reads the column. What cannot be read is as good as nothing said:
// a turn does not fail for it.
func readSettings(text string) (s bot.Settings) {
	var row settings
	if text != "" && json.Unmarshal([]byte(text), &row) == nil {
		s = bot.Settings(row)
	}
	return s
}

func settingsText(s bot.Settings) (string, error) { return compact(settings(s)) }

// set changes one setting of a session, beside what others change.
func (t *tx) set(s fallback.SessionID, changes []bot.Setting) error {
	var text string
	if _, err := t.row(`SELECT settings FROM sessions WHERE key = ?`, []any{s}, &text); err != nil {
		return err
	}
	now := readSettings(text)
	for _, c := range changes {
		now = now.With(c)
	}
	text, err := settingsText(now)
	if err == nil {
		_, err = t.exec(`UPDATE sessions SET settings = ? WHERE key = ?`, text, s)
	}
	return err
}
