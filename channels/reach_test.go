package channels

import "testing"

// Plain http is for this machine only, and an address is nothing but one [D24].
func TestCheckURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://slack.com/api/": "", "https://proxy.example:8443/slack/api": "", "http://127.0.0.1:8080/api/": "", "http://localhost/api/": "",
		"http://[::1]/api/": "", "wss://gateway.example": "", "ws://127.0.0.1:1": "",
		"http://slack.com/api/":            "plain http is for this machine only; use https",
		"http://127.0.0.1.example/api/":    "plain http is for this machine only; use https",
		"ws://10.0.0.1/":                   "plain ws is for this machine only; use wss",
		"ftp://127.0.0.1/":                 `scheme "ftp" is not https or wss`,
		"":                                 "it is not a plain URL of scheme, host and path",
		"slack.com":                        "it is not a plain URL of scheme, host and path",
		"https://user:pass@slack.com/api/": "it is not a plain URL of scheme, host and path",
		"https://slack.com/api/?x=1":       "it is not a plain URL of scheme, host and path",
	} {
		got := ""
		if err := CheckURL(raw, "https", "wss"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	if CheckURL("ws://127.0.0.1", "https") == nil {
		t.Error("a scheme that is not asked for is taken")
	}
}
