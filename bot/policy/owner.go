package policy

import "standin/channels"

// Owns tells whether a person may give the owner's commands, and have the agent
// use the owner's tools [C1, R71]: who was approved first, and who is listed in
// commands.ownerAllowFrom. On a surface without rules, a console, whoever sits
// there is the owner.
func (r Rules) Owns(in channels.Inbound, k Known) bool {
	if _, ruled := r.Surface(in.To); !ruled {
		return in.Authorized
	}
	return k.Owner || Lists(r.Commands.Owners, in)
}
