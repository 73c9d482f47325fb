package legacy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shape is what a test compares of a file, secrets revealed.
func shape(c Contents) (out []string) {
	for _, one := range c.Credentials {
		out = append(out, fmt.Sprintf("%s of %s, %s %s", one.ID, one.Provider, one.Type, one.Secret.Reveal()))
	}
	for _, r := range c.Refs {
		out = append(out, fmt.Sprintf("%s of %s, %s in %s %s", r.ID, r.Provider, r.Type, r.Source, r.Name))
	}
	for _, r := range c.Refused {
		out = append(out, fmt.Sprintf("%s: %s", r.Entry, r.Why))
	}
	return out
}

// The shapes of failover.md 21.C.3, each as it was written by somebody.
func TestEachShapeIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		kind Kind
		text string
		want []string
	}{
		"profiles by id": {Profiles, `{"version":1,"profiles":{
			"openai:default":{"type":"api_key","provider":"openai","key":"sk-a"},
			"openai:me@example.org":{"type":"oauth","provider":"OpenAI","access":"a","refresh":"r","expires":1767614400000,"email":"me@example.org","accountId":"acc"},
			"github:static":{"type":"token","provider":"github","token":"t","expires":1767614400000}}}`,
			[]string{
				`openai:default of openai, api_key {"key":"sk-a"}`,
				`openai:me@example.org of openai, oauth {"access":"a","accountId":"acc","email":"me@example.org","expires":1767614400000,"refresh":"r"}`,
				`github:static of github, token {"expires":1767614400000,"token":"t"}`,
			}},
		"mode for type, apiKey for key": {Profiles, `{"profiles":{"groq:default":{"mode":"api_key","provider":"groq","apiKey":"k"},"xai:default":{"type":"apiKey","api_key":"k2"}}}`,
			[]string{`groq:default of groq, api_key {"key":"k"}`, `xai:default of xai, api_key {"key":"k2"}`}},
		"the flat map": {Profiles, `{"openrouter":{"apiKey":"k"},"anthropic":{"access":"a","refresh":"r","expires":1}}`,
			[]string{`openrouter:default of openrouter, api_key {"key":"k"}`, `anthropic:default of anthropic, oauth {"access":"a","expires":1,"refresh":"r"}`}},
		"auth.json": {Auth, `{"anthropic":{"type":"api_key","key":"k"},"openai-codex":{"type":"oauth","access":"a","refresh":"r","expires":5,"chatgptPlanType":"plus"}}`,
			[]string{`anthropic:default of anthropic, api_key {"key":"k"}`, `openai-codex:default of openai-codex, oauth {"access":"a","chatgptPlanType":"plus","expires":5,"refresh":"r"}`}},
		"oauth.json": {OAuth, `{"anthropic":{"access":"a","refresh":"r","expires":5}}`,
			[]string{`anthropic:default of anthropic, oauth {"access":"a","expires":5,"refresh":"r"}`}},
		"unknown fields stay, digits too": {Profiles, `{"profiles":{"a:b":{"type":"api_key","key":"k","later":{"x":[1,2.50]},"big":12345678901234567890}}}`,
			[]string{`a:b of a, api_key {"big":12345678901234567890,"key":"k","later":{"x":[1,2.50]}}`}},
		"references": {Profiles, `{"profiles":{"a:env":{"type":"api_key","provider":"a","keyRef":{"source":"env","provider":"default","id":"A_KEY"}},
			"a:file":{"type":"token","provider":"a","token":{"source":"file","id":"/k"}},"a:var":{"type":"api_key","provider":"a","key":"${A_KEY}"}}}`,
			[]string{`a:env of a, api_key in env A_KEY`, `a:file of a, token in file /k`, `a:var of a, api_key in env A_KEY`}},
		"an empty store":  {Profiles, `{"version":1,"profiles":{}}`, nil},
		"hardly anything": {Profiles, `{"version":1}`, nil},
	} {
		got, err := Read(c.kind, []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, shape(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What cannot be taken over is named, with the reason and without the secret.
func TestWhatIsNoCredentialIsRefusedByName(t *testing.T) {
	for text, want := range map[string]string{
		`{"profiles":{"a:b":{"type":"api_key","key":""}}}`:                                            "a:b: has no key",
		`{"profiles":{"a:b":{"type":"api_key"}}}`:                                                     "a:b: has no key",
		`{"profiles":{"a:b":{"type":"token","provider":"a"}}}`:                                        "a:b: has no token",
		`{"profiles":{"a:b":{"type":"oauth"}}}`:                                                       "a:b: has neither an access nor a refresh token",
		`{"profiles":{"a:b":{"provider":"a"}}}`:                                                       "a:b: holds neither a key nor a token nor a login",
		`{"profiles":{"a:b":{"type":"passkey","key":"k"}}}`:                                           "a:b: is of a type that standin does not know",
		`{"profiles":{"a:b":{"type":"aws-sdk"}}}`:                                                     "a:b: is a login of AWS, which standin does not use",
		`{"profiles":{"a:b":"sk-abcdefgh"}}`:                                                          "a:b: is no object with the fields of a credential",
		`{"profiles":{"plain":{"type":"api_key","key":"k"}}}`:                                         "plain: has no name of the form provider:name",
		`{"profiles":{"a:b":{"type":"api_key","key":"two words"}}}`:                                   "a:b: has a key with spaces, line breaks or letters that none has",
		`{"profiles":{"a:b":{"type":"api_key","key":"k\u0000"}}}`:                                     "a:b: has a key with spaces, line breaks or letters that none has",
		`{"profiles":{"a:b":{"type":"token","token":"t","expires":"soon"}}}`:                          "a:b: has an end (expires) that is no number of milliseconds",
		`{"profiles":{"a:b":{"type":"oauth","oauthRef":{"source":"openclaw-credentials","id":"x"}}}}`: "a:b: keeps its login in another file of OpenClaw's, credentials/auth-profiles, which is sealed",
		`{"profiles":{"a:b":{"type":"api_key","key":"k","key":"l"}}}`:                                 "a:b: is no object with the fields of a credential",
	} {
		got, err := Read(Profiles, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff([]string{want}, shape(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestOfTwoEntriesOfOneNameTheSecondIsRefused(t *testing.T) {
	got, err := Read(Profiles, []byte(`{"profiles":{"a:b":{"type":"api_key","key":"k"},"a:b":{"type":"api_key","key":"l"}}}`))
	want := []string{`a:b of a, api_key {"key":"k"}`, `a:b: stands twice in the file, and only one can be meant`}
	if diff := cmp.Diff(want, shape(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A key that a vendor gave keeps every character; what a paste put around it goes.
func TestOddCharactersInSecrets(t *testing.T) {
	for _, key := range []string{`a"b\c`, `</script>&amp;`, `'$(x)%20{}`, "~!@#$%^&*()_+=", `\u0041`} {
		text, _ := json.Marshal(map[string]any{"profiles": map[string]any{"a:b": map[string]string{"type": "api_key", "key": " " + key + "\r\n"}}})
		got, err := Read(Profiles, text)
		if err != nil || len(got.Credentials) != 1 {
			t.Fatalf("%q: %v %v", key, err, shape(got))
		}
		var secret struct{ Key string }
		if err := json.Unmarshal([]byte(got.Credentials[0].Secret.Reveal()), &secret); err != nil || secret.Key != key {
			t.Errorf("%q became %q (%v)", key, secret.Key, err)
		}
	}
}

// A broken file is told by its place; nothing of what stands in it is repeated.
func TestABrokenFileIsToldByItsPlace(t *testing.T) {
	const secret = "sk-proj-0123456789"
	for text, want := range map[string]string{
		"":                 "is empty",
		"  \n":             "is empty",
		"[]":               "holds no JSON object",
		`"` + secret + `"`: "holds no JSON object",
		"{\n \"a\": {\"key\": \"" + secret + "\",}}": "is no valid JSON from line 2, column 36 on",
		"{\"a\": {\"key\": \"" + secret:              "is no valid JSON: it breaks off at line 1, column 34",
		`{} {"a":1}`:                                 "is no valid JSON from line 1, column 5 on",
		"{\"\xff\":1}":                               "is not text in UTF-8",
		`{"profiles":[]}`:                            "its profiles are not an object: nothing of it can be told apart",
	} {
		_, err := Read(Profiles, []byte(text))
		if err == nil || err.Error() != want || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Read(Profiles, make([]byte, MaxFile+1)); err == nil {
		t.Error("a file without bound is read")
	}
}

func TestTheRoutingStateIsReadFromBothFiles(t *testing.T) {
	const state = `"order":{"OpenAI":["openai:b",7,"openai:a",null],"bad":7,"worse":[7],"none":[]},"lastGood":{"openai":"openai:a"},"usageStats":{"openai:a":{"errorCount":2},"openai:b":7}`
	for kind, text := range map[Kind]string{State: `{"version":1,` + state + `}`, Profiles: `{"profiles":{},` + state + `}`} {
		got, err := Read(kind, []byte(text))
		want := Contents{
			Order:    map[string][]string{"openai": {"openai:b", "openai:a"}, "none": {}},
			LastGood: map[string]string{"openai": "openai:a"},
			Usage:    map[string]json.RawMessage{"openai:a": json.RawMessage(`{"errorCount":2}`)},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", kind, err, diff)
		}
	}
}

func FuzzReadIsTotal(f *testing.F) {
	f.Add(`{"profiles":{"a:b":{"type":"api_key","key":"k"}}}`)
	f.Add(`{"a":{"apiKey":"k"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Profiles, State, Auth, OAuth} {
			c, err := Read(kind, []byte(text))
			if err != nil {
				continue
			}
			for _, one := range c.Credentials {
				if !json.Valid([]byte(one.Secret.Reveal())) || one.ID == "" || one.Provider == "" {
					t.Errorf("%q gives a credential that cannot be stored", text)
				}
			}
		}
	})
}
