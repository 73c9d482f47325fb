package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"standin/bot/operator"
	"standin/fallback/provider"
)

// gatewayKeys is gateway [G19].
type gatewayKeys struct {
	Port    int             `json:"port,omitempty" jsonschema:"minimum=1,maximum=65535" jsonschema_description:"TCP port. Default: 18790 if auth.token is set or a Slack account is in mode http; otherwise nothing listens. A change needs a restart."`
	Bind    string          `json:"bind,omitempty" jsonschema:"enum=loopback,enum=lan,default=loopback" jsonschema_description:"loopback: this machine only; lan: every interface. A change needs a restart."`
	Auth    gatewayAuthKeys `json:"auth,omitempty" jsonschema_description:"Who may see and work on standin over the port. A change needs a restart."`
	Metrics bool            `json:"metrics,omitempty" jsonschema:"default=true" jsonschema_description:"Whether /metrics is served to them, for Prometheus. A change needs a restart."`
	Pprof   bool            `json:"pprof,omitempty" jsonschema:"default=false" jsonschema_description:"Whether profiles of the process are served to them at /debug/pprof. A change needs a restart."`
	OTel    otelKeys        `json:"otel,omitempty" jsonschema_description:"Where traces of runs are sent; off without an endpoint. What people and models say is in none. A change needs a restart."`
}

type gatewayAuthKeys struct {
	Token secret `json:"token,omitempty" jsonschema_description:"What the page and the API ask for. Default: none, and only this machine is let in, by the names localhost and 127.0.0.1; with bind lan, or a Slack account in mode http, nobody is."`
}

type otelKeys struct {
	Endpoint string            `json:"endpoint,omitempty" jsonschema_description:"Base URL of an OTLP receiver over HTTP, such as http://127.0.0.1:4318; /v1/traces is added."`
	Headers  map[string]secret `json:"headers,omitempty" jsonschema_description:"Sent along with every request to it."`
}

const (
	bindLoopback = "loopback"
	defaultPort  = 18790
)

// settings gives the address to listen on, "" for none.
func (k gatewayKeys) settings(accounts []Account) string {
	port := k.Port
	if port == 0 && k.Auth.Token.given() {
		port = defaultPort
	}
	for _, a := range accounts {
		if port == 0 && a.Webhook() != "" {
			port = defaultPort
		}
	}
	host := ""
	switch {
	case port == 0:
		return ""
	case k.Bind == bindLoopback:
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// minToken is the length of a token that cannot be guessed, in characters.
const minToken = 16

// readOperator reads who may come in over the port, and what they get.
func (c *compiler) readOperator(accounts []Account) (o operator.Settings) {
	k, at := c.doc.Gateway, Path{"gateway"}
	webhooks := slices.ContainsFunc(accounts, func(a Account) bool { return a.Webhook() != "" })
	o = operator.Settings{Exposed: k.Bind != bindLoopback || webhooks, Metrics: k.Metrics, Pprof: k.Pprof}
	token := at.Key("auth").Key("token")
	if k.Auth.Token.given() {
		o.Token, _ = c.resolve(k.Auth.Token, token, "STANDIN_GATEWAY_TOKEN")
		if text := o.Token.Reveal(); text != "" && len(text) < minToken {
			c.report(token, "the token is too short: it could be guessed", "use one of at least 16 characters, such as what openssl rand -hex 24 prints")
		}
	} else if k.Bind != bindLoopback && k.Port != 0 {
		c.warn(at.Key("bind"), "everybody in the network reaches the port, and there is no token: the page and the API let nobody in", "set gateway.auth.token")
	}
	if k.OTel.Endpoint != "" {
		u, err := url.Parse(k.OTel.Endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			c.report(at.Key("otel").Key("endpoint"), "is no URL that traces can be sent to", "write one such as http://127.0.0.1:4318")
		}
		o.Traces.Endpoint = strings.TrimSuffix(k.OTel.Endpoint, "/")
	}
	for _, name := range sortedKeys(k.OTel.Headers) {
		value, ok := c.passed(k.OTel.Headers[name], name, at.Key("otel").Key("headers").Key(name))
		if ok {
			if o.Traces.Headers == nil {
				o.Traces.Headers = map[string]provider.Key{}
			}
			o.Traces.Headers[name] = provider.NewKey(value)
		}
	}
	return o
}
