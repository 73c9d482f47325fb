package config

import (
	"fmt"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// mediaKeys is media: what becomes of files that come with messages [G40].
type mediaKeys struct {
	TTLHours int `json:"ttlHours,omitempty" jsonschema:"minimum=0,maximum=87600,default=168" jsonschema_description:"How long such a file is kept, in hours; 0: as long as its message."`
}

// mediaDefaults are their keys of agents.defaults.
type mediaDefaults struct {
	ImageModel modelChoice `json:"imageModel,omitempty" jsonschema_description:"Who looks at pictures when a session's own model cannot, for that one turn. Default: nobody; the model is then told that there are pictures."`
	MediaMaxMb int         `json:"mediaMaxMb,omitempty" jsonschema:"minimum=1,maximum=500,default=5" jsonschema_description:"Largest file of a message that is read, in megabytes; a channel's own mediaMaxMb counts where it is less."`
}

// talkDefaults are the settings that people change with /think and /verbose.
type talkDefaults struct {
	Thinking string `json:"thinkingDefault,omitempty" jsonschema:"enum=off,enum=minimal,enum=low,enum=medium,enum=high,enum=xhigh,enum=max" jsonschema_description:"How much models think before they answer, where they can be told; /think in a session counts before it. Default: as their vendors have it."`
	Verbose  string `json:"verboseDefault,omitempty" jsonschema:"enum=off,enum=on,enum=full,default=off" jsonschema_description:"Whether the tools that an answer has used are told; /verbose in a session counts before it."`
}

func usualMedia() mediaKeys {
	return mediaKeys{TTLHours: int(bot.Defaults().Media.Keep / time.Hour)}
}

func usualMediaDefaults() mediaDefaults {
	return mediaDefaults{MediaMaxMb: int(bot.Defaults().Media.MaxBytes >> 20)}
}

func usualTalk() talkDefaults { return talkDefaults{Verbose: string(bot.Defaults().Verbose)} }

// readMedia reads what is made of files, and who looks at pictures.
func (c *compiler) readMedia(f *fallback.Config, b *bot.Config) {
	d := c.doc.Agents.Defaults
	b.Media = bot.MediaConfig{MaxBytes: int64(d.MediaMaxMb) << 20, Keep: time.Duration(c.doc.Media.TTLHours) * time.Hour}
	b.Think, b.Verbose = provider.Effort(d.Thinking), bot.VerboseLevel(d.Verbose)
	p := Path{"agents", "defaults", "imageModel"}
	if !c.written(p) {
		return
	}
	k := d.ImageModel
	if k.Primary == "" && len(k.Fallbacks) == 0 {
		c.report(p, "names no model", "write provider/model, or remove the key")
		return
	}
	at := p
	if !k.Text {
		at = p.Key("primary")
	}
	if k.Primary != "" {
		f.Images.Primary = c.eyes(f, k.Primary, at, "")
	}
	f.Images.Listed = k.Listed
	for i, text := range k.Fallbacks { // a bare id is of the primary's provider (21.A.4)
		if m := c.eyes(f, text, c.item(p.Key("fallbacks"), i), f.Images.Primary.Provider); !m.IsZero() {
			f.Images.Fallbacks = append(f.Images.Fallbacks, m)
		}
	}
}

// eyes reads one of the image models, and warns of one that cannot see.
func (c *compiler) eyes(f *fallback.Config, text string, p Path, home string) fallback.Model {
	m, ok := c.model(text, p, home)
	switch {
	case !ok:
		return fallback.Model{}
	case f.KnownBlind(m):
		c.warn(p, fmt.Sprintf("%s cannot be shown pictures, as far as is known, and is passed over for them", m),
			fmt.Sprintf("name a model that can, or say so in models.providers.%s.models with input: [text, image]", m.Provider))
	}
	return m
}
