package config

import (
	"strings"
	"testing"
)

// Nothing listens unless it is asked for; http mode asks for it.
func TestWhereTheGatewayListens(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"gateway: {port: 1234}":             "127.0.0.1:1234",
		"gateway: {port: 1234, bind: lan}":  ":1234",
		"channels: {slack: {mode: http}}":   "127.0.0.1:18790",
		"channels: {slack: {mode: socket}}": "",
		"channels: {slack: {mode: http, enabled: false}}": "",
		"gateway: {auth: {token: long-enough-to-be-one}}": "127.0.0.1:18790",
	} {
		if got := must(t, oneModel+text, env()).Gateway; got != want {
			t.Errorf("%q listens on %q, want %q", text, got, want)
		}
	}
}

// Who reaches the port is known from the config, and so is whether they are let in.
func TestWhoComesIn(t *testing.T) {
	for text, exposed := range map[string]bool{
		"gateway: {port: 1234}":             false,
		"gateway: {port: 1234, bind: lan}":  true,
		"channels: {slack: {mode: http}}":   true, // its requests come through a proxy of this machine
		"channels: {slack: {mode: socket}}": false,
	} {
		if got := must(t, oneModel+text, env()).Operator.Exposed; got != exposed {
			t.Errorf("%q: exposed %v, want %v", text, got, exposed)
		}
	}
	c := must(t, oneModel+"gateway: {auth: {token: {source: env, id: T}}, otel: {endpoint: http://127.0.0.1:4318/, headers: {x-key: k}}}", env("T", "0123456789abcdef"))
	if o := c.Operator; o.Token.Reveal() != "0123456789abcdef" || o.Traces.Endpoint != "http://127.0.0.1:4318" || o.Traces.Headers["x-key"].Reveal() != "k" || !o.Metrics || o.Pprof {
		t.Errorf("read %+v", o)
	}
}

// A token that can be guessed, and an endpoint that leads nowhere, are faults; a
// port that is open to all and lets nobody in is worth a word.
func TestFaultsOfTheGateway(t *testing.T) {
	for text, want := range map[string]string{
		"gateway: {auth: {token: short}}":                   "the token is too short",
		"gateway: {otel: {endpoint: collector:4317}}":       "is no URL that traces can be sent to",
		"gateway: {auth: {token: {source: env, id: NONE}}}": `the variable "NONE" is not set`,
		"gateway: {port: 1234, bind: lan}":                  "there is no token",
	} {
		_, faults := Parse("config.yaml", []byte(oneModel+text), env(), "")
		var all []string
		for _, f := range faults {
			all = append(all, f.String())
		}
		if !strings.Contains(strings.Join(all, "\n"), want) {
			t.Errorf("%q: %q, want %q among them", text, all, want)
		}
	}
}
