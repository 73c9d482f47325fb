package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback/provider"
)

// A program and an address speak alike; what they complain of is told.
func TestWhatSpeaks(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("X-Key") != "k":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/plain":
			_, _ = w.Write(text)
		default:
			w.Header().Set("Content-Type", "audio/mpeg")
			_, _ = w.Write(text)
		}
	}))
	defer s.Close()
	key := map[string]provider.Key{"X-Key": provider.NewKey("k")}
	for _, c := range []struct {
		name string
		v    config.Voice
		file string
		err  string
	}{
		{"a program", config.Voice{Command: []string{"cat"}}, "answer.ogg", ""},
		{"one that fails", config.Voice{Command: []string{"sh", "-c", "echo no voice >&2; exit 3"}}, "", "no voice"},
		{"one that is not there", config.Voice{Command: []string{"/no/such/voice"}}, "", "no such file"},
		{"one that says nothing", config.Voice{Command: []string{"true"}}, "", "no sound"},
		{"an address", config.Voice{URL: s.URL, Headers: key}, "answer.mp3", ""},
		{"one that does not say what it is", config.Voice{URL: s.URL + "/plain", Headers: key}, "answer.ogg", ""},
		{"one that refuses", config.Voice{URL: s.URL}, "", "401"},
		{"nothing", config.Voice{}, "", "names nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.v.Type, c.v.Timeout = "audio/ogg", time.Minute
			f, err := voice{config: func() config.Voice { return c.v }}.Speak(t.Context(), "hello")
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || f.Name != c.file {
				t.Fatalf("%+v, %v", f, err)
			}
			r, _ := f.Open(t.Context())
			if sound, _ := io.ReadAll(r); string(sound) != "hello" {
				t.Errorf("%q", sound)
			}
		})
	}
}

// A program that speaks sees none of our keys, and so cannot tell them [I12].
func TestAVoiceSeesNoKeys(t *testing.T) {
	t.Setenv("SOME_KEY", "canary")
	v := voice{func() config.Voice {
		return config.Voice{Command: []string{"sh", "-c", "echo \"key $SOME_KEY, lang $LANG\" >&2; exit 3"}, Timeout: time.Minute}
	}, []string{"LANG=C"}}
	if _, err := v.Speak(t.Context(), "hello"); err == nil || !strings.Contains(err.Error(), "(key , lang C)") {
		t.Errorf("%v", err)
	}
}
