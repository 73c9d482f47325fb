package config

import (
	"net"
	"strconv"
)

// gatewayKeys is gateway [G19]. There is no control API yet: what is told over
// the port is one word.
type gatewayKeys struct {
	Port int    `json:"port,omitempty" jsonschema:"minimum=1,maximum=65535" jsonschema_description:"TCP port. Default: 18790 if a Slack account is in mode http; otherwise nothing listens. A change needs a restart."`
	Bind string `json:"bind,omitempty" jsonschema:"enum=loopback,enum=lan,default=loopback" jsonschema_description:"loopback: this machine only; lan: every interface. A change needs a restart."`
}

const (
	bindLoopback = "loopback"
	defaultPort  = 18790
)

// settings gives the address to listen on, "" for none.
func (k gatewayKeys) settings(accounts []Account) string {
	port := k.Port
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
