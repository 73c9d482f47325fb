package policy

import (
	"strings"

	"standin/channels"
)

// Trusts tells whether commands.allowFrom names the sender, and not just
// everybody: whoever runs this wrote their id down as one who gives commands [C1].
func (r Rules) Trusts(in channels.Inbound) bool {
	list, ok := r.Commands.AllowFrom[in.To.Channel]
	if !ok {
		list = r.Commands.AllowFrom["*"]
	}
	for _, entry := range list {
		if entry = strings.TrimSpace(entry); entry != everybody && Lists([]string{entry}, in) {
			return true
		}
	}
	return false
}
