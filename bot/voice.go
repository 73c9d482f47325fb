package bot

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback/provider"
)

// Speaker says a text aloud: it gives a sound file (messages.tts).
type Speaker interface {
	Speak(ctx context.Context, text string) (channels.File, error)
}

// Voice is messages.tts [G39].
type Voice struct {
	Auto     VoiceAuto
	MaxChars int // of what is spoken; more is cut. 0: 4000
}

// VoiceAuto says which answers are spoken.
type VoiceAuto string

// The choices of messages.tts.auto.
const (
	VoiceOff     VoiceAuto = "off"
	VoiceAlways  VoiceAuto = "always"
	VoiceInbound VoiceAuto = "inbound" // answers to messages that came with a sound
	VoiceTagged  VoiceAuto = "tagged"  // answers with [[tts]] in them
)

// The bounds of what is spoken.
const (
	leastSpoken = 10 // characters
	mostSpoken  = 4000
	speakTime   = 60 * time.Second
)

// voiceTag is how a model asks for its answer to be spoken.
const voiceTag = "[[tts]]"

// spoken gives the posts of a turn that are said aloud, and takes the model's own
// wish out of the texts. Notices, failures and answers of commands are words of
// the house and never spoken [M14]; nor is what comes with files already.
func spoken(v Voice, in channels.Inbound, posts []channels.Outbound) (aloud []channels.Outbound) {
	for i, p := range posts {
		if p.Kind != channels.Reply {
			continue
		}
		plain, tagged := p.Text, strings.Contains(p.Text, voiceTag)
		if tagged {
			plain = strings.TrimSpace(strings.ReplaceAll(plain, voiceTag, ""))
			posts[i].Text = plain
		}
		wanted := v.Auto == VoiceAlways || v.Auto == VoiceTagged && tagged || v.Auto == VoiceInbound && cameSpoken(in)
		if wanted && len(p.Files) == 0 && utf8.RuneCountInString(plain) >= leastSpoken {
			p.Text = plain
			aloud = append(aloud, p)
		}
	}
	return aloud
}

func cameSpoken(in channels.Inbound) bool {
	for _, f := range in.Files {
		if strings.HasPrefix(f.Type, "audio/") {
			return true
		}
	}
	return false
}

// speak says posts aloud, beside the turns: the text is there already, and a voice
// that fails or a daemon that leaves costs the sound alone.
func (b *Bot) speak(cfg *Config, posts []channels.Outbound) {
	if b.Speaker == nil || len(posts) == 0 {
		return
	}
	b.aside.Go(func() {
		for _, p := range posts {
			ctx, cancel := context.WithTimeout(b.life, speakTime)
			err := b.speakOne(ctx, cfg, p)
			cancel()
			if err != nil && b.life.Err() == nil {
				b.Log.Warn("an answer was not spoken", "delivery", p.ID, "err", provider.Redact(err.Error()))
			}
		}
	})
}

func (b *Bot) speakOne(ctx context.Context, cfg *Config, p channels.Outbound) error {
	most := cfg.Voice.MaxChars
	if most <= 0 {
		most = mostSpoken
	}
	file, err := b.Speaker.Speak(ctx, policy.Short(p.Text, most))
	if err != nil {
		return fmt.Errorf("speak: %w", err)
	}
	return b.Post(ctx, channels.Outbound{ID: p.ID + "v", To: p.To, Kind: channels.Reply, ReplyTo: p.ReplyTo, Only: p.Only, Files: []channels.File{file}})
}
