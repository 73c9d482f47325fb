package bot_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// parrot speaks by giving the text back as a file.
type parrot struct {
	said []string
	err  error
}

func (p *parrot) Speak(_ context.Context, text string) (channels.File, error) {
	p.said = append(p.said, text)
	return channels.File{Name: "answer.ogg", Type: "audio/ogg", Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}, p.err
}

// "Excluded from speech": notices, failures and answers of commands are never
// spoken; answers are as messages.tts says [M14, G39].
func TestOnlyAnswersAreSpoken(t *testing.T) {
	for _, c := range []struct {
		auto   bot.VoiceAuto
		answer string
		in     channels.Inbound
		spoken string
		read   string
	}{
		{bot.VoiceOff, "a long answer", channels.Inbound{}, "", "a long answer"},
		{bot.VoiceAlways, "a long answer", channels.Inbound{}, "a long answer", "a long answer"},
		{bot.VoiceAlways, "short", channels.Inbound{}, "", "short"},
		{bot.VoiceTagged, "a long answer", channels.Inbound{}, "", "a long answer"},
		{bot.VoiceTagged, "[[tts]] a long answer", channels.Inbound{}, "a long answer", "a long answer"},
		{bot.VoiceOff, "[[tts]] a long answer", channels.Inbound{}, "", "a long answer"},
		{bot.VoiceInbound, "a long answer", channels.Inbound{}, "", "a long answer"},
		{bot.VoiceInbound, "a long answer", channels.Inbound{Files: []channels.File{{Name: "m.ogg", Type: "audio/ogg"}}}, "a long answer", "a long answer"},
	} {
		inHouse(t, func(t *testing.T, h *house) {
			voice := &parrot{}
			h.bot.Speaker, h.cfg.Voice.Auto = voice, c.auto
			h.engine.then(h.engine.fallsOver(modelB, c.answer), fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
			c.in.Text = "question"
			h.post(c.in)
			h.settle()
			h.say("another")
			h.say("/status")
			synctest.Wait() // what is spoken is spoken beside the turns
			h.settle()
			if said := strings.Join(voice.said, "|"); said != c.spoken {
				t.Errorf("%s %q: spoken %q", c.auto, c.answer, said)
			}
			sounds := 0
			for _, p := range h.room.Posted() {
				sounds += len(p.Files)
				if p.Kind == channels.Reply && len(p.Files) == 0 && p.Text != c.read {
					t.Errorf("%s: the room reads %q", c.auto, p.Text)
				}
			}
			if sounds != len(voice.said) {
				t.Errorf("%d sounds were posted", sounds)
			}
		})
	}
}

// A voice that fails costs the sound alone.
func TestAVoiceThatFails(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Speaker, h.cfg.Voice.Auto = &parrot{err: errors.New("no breath")}, bot.VoiceAlways
		h.say("hello there, friend")
		synctest.Wait()
		if n := len(h.room.Posted()); n != 1 {
			t.Errorf("%d posts", n)
		}
	})
}
