package config

import (
	"net/url"
	"time"

	"standin/bot"
	"standin/fallback/provider"
)

// voiceKeys is messages.tts [G39].
type voiceKeys struct {
	Auto           string            `json:"auto,omitempty" jsonschema:"enum=off,enum=always,enum=inbound,enum=tagged,default=off" jsonschema_description:"Which answers are spoken: none, all, those to a voice message, those in which the model writes [[tts]]. Notices and other words of standin's own never are."`
	Command        []string          `json:"command,omitempty" jsonschema_description:"A program and its arguments that reads a text from standard input and writes a sound to standard output."`
	URL            string            `json:"url,omitempty" jsonschema_description:"In place of a program: an address that takes the text as the body of a POST and answers with a sound. Plain http only on this machine."`
	Headers        map[string]secret `json:"headers,omitempty" jsonschema_description:"Sent along with it."`
	Type           string            `json:"type,omitempty" jsonschema:"default=audio/ogg" jsonschema_description:"The MIME type of the sound, where the address does not say."`
	MaxTextLength  int               `json:"maxTextLength,omitempty" jsonschema:"minimum=10,maximum=100000,default=4000" jsonschema_description:"What is longer than so many characters is cut before it is spoken."`
	TimeoutSeconds int               `json:"timeoutSeconds,omitempty" jsonschema:"minimum=1,maximum=600,default=60" jsonschema_description:"Longest time that speaking one answer may take, in seconds."`
}

func usualVoice() voiceKeys {
	return voiceKeys{Auto: string(bot.VoiceOff), Type: "audio/ogg", MaxTextLength: 4000, TimeoutSeconds: 60}
}

// Voice is who speaks: a program or an address; neither where nothing is spoken.
type Voice struct {
	Command []string
	URL     string
	Headers map[string]provider.Key
	Type    string
	Timeout time.Duration
}

// readVoice reads messages.tts.
func (c *compiler) readVoice(out *Compiled) {
	k, at := c.doc.Messages.TTS, Path{"messages", "tts"}
	out.Bot.Voice = bot.Voice{Auto: bot.VoiceAuto(k.Auto), MaxChars: k.MaxTextLength}
	out.Voice = Voice{Command: k.Command, URL: k.URL, Type: k.Type, Timeout: time.Duration(k.TimeoutSeconds) * time.Second, Headers: map[string]provider.Key{}}
	switch {
	case k.Auto == string(bot.VoiceOff):
		return
	case len(k.Command) == 0 && k.URL == "":
		c.report(at, "is to speak answers, and nothing is named that can", "add a command or a url, or set auto: off")
	case len(k.Command) > 0 && k.URL != "":
		c.report(at.Key("url"), "stands beside a command", "keep one of the two")
	}
	if u, err := url.Parse(k.URL); k.URL != "" && (err != nil || u.User != nil) {
		c.report(at.Key("url"), "is no URL, or holds a password", "put secrets into headers")
	} else if k.URL != "" {
		if err := provider.CheckBaseURL(k.URL); err != nil {
			c.report(at.Key("url"), err.Error(), "use https")
		}
	}
	for _, name := range sortedKeys(k.Headers) {
		if value, ok := c.passed(k.Headers[name], name, at.Key("headers").Key(name)); ok {
			out.Voice.Headers[name] = provider.NewKey(value)
		}
	}
}
