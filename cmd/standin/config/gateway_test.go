package config

import "testing"

// Nothing listens unless it is asked for; http mode asks for it.
func TestWhereTheGatewayListens(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"gateway: {port: 1234}":             "127.0.0.1:1234",
		"gateway: {port: 1234, bind: lan}":  ":1234",
		"channels: {slack: {mode: http}}":   "127.0.0.1:18790",
		"channels: {slack: {mode: socket}}": "",
		"channels: {slack: {mode: http, enabled: false}}": "",
	} {
		if got := must(t, oneModel+text, env()).Gateway; got != want {
			t.Errorf("%q listens on %q, want %q", text, got, want)
		}
	}
}
