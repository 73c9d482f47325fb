package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os/exec"
	"strings"

	"standin/channels"
	"standin/cmd/standin/config"
)

// voice speaks with what the config names just now: a program or an address. A
// program sees environ alone, and none of our keys [I12].
type voice struct {
	config  func() config.Voice
	environ []string
}

// Speak implements bot.Speaker.
func (v voice) Speak(ctx context.Context, text string) (channels.File, error) {
	c := v.config()
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var sound []byte
	var err error
	kind := c.Type
	switch {
	case len(c.Command) > 0:
		sound, err = runVoice(ctx, c, v.environ, text)
	case c.URL != "":
		sound, kind, err = askVoice(ctx, c, text)
	default:
		return channels.File{}, errors.New("messages.tts names nothing that can speak")
	}
	if err == nil && len(sound) == 0 {
		err = errors.New("no sound came")
	}
	if err != nil {
		return channels.File{}, err
	}
	return channels.File{Name: "answer" + ending(kind), Type: kind, Size: int64(len(sound)),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sound)), nil }}, nil
}

// runVoice has a program speak. What it complains of is the error's text.
func runVoice(ctx context.Context, c config.Voice, environ []string, text string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	var out, said bytes.Buffer
	cmd.Env = append([]string{}, environ...) // nil would be all of ours
	cmd.Stdin, cmd.Stderr = strings.NewReader(text), &said
	cmd.Stdout = &limited{&out, channels.MaxFileBytes}
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%s: %w (%s)", c.Command[0], err, lines[len(lines)-1])
	}
	return out.Bytes(), nil
}

// askVoice has an address speak.
func askVoice(ctx context.Context, c config.Voice, text string) (sound []byte, kind string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, strings.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	r.Header.Set("Accept", "audio/*")
	for name, value := range c.Headers {
		r.Header.Set(name, value.Reveal())
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the headers are for this host alone
	resp, err := client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, "", fmt.Errorf("the voice answers %s", resp.Status)
	}
	if kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type")); !strings.HasPrefix(kind, "audio/") {
		kind = c.Type
	}
	sound, err = io.ReadAll(io.LimitReader(resp.Body, channels.MaxFileBytes+1))
	if len(sound) > channels.MaxFileBytes {
		err = errors.New("the sound is too large to send")
	}
	return sound, kind, err
}

// ending is the usual ending of a file of the type.
func ending(kind string) string {
	switch kind {
	case "audio/mpeg", "audio/mp3":
		return ".mp3"
	case "audio/wav", "audio/x-wav", "audio/wave":
		return ".wav"
	case "audio/mp4", "audio/aac":
		return ".m4a"
	}
	return ".ogg"
}

// limited fails a write that goes beyond a size.
type limited struct {
	to   *bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.to.Len()+len(p) > l.most {
		return 0, errors.New("the sound is too large to send")
	}
	return l.to.Write(p)
}
