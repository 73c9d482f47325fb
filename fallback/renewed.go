package fallback

// Renewed is the state of a login that was renewed just now: the windows that
// its former token was refused for are over, whoever asked with it. Limits and
// bills are the account's and stay, and so do the counts: a vendor that refuses
// each new token too is asked less and less often [IL-176].
func (u Usage) Renewed() Usage {
	if u.Disabled.Reason == AuthPermanent {
		u.Disabled = Window{}
	}
	if u.Whole.Reason == AuthFailed {
		u.Whole.Window = Window{}
	}
	return u
}
