package channels

// ReplyMode says which posts of a turn refer to the message they answer
// (replyToMode) [N25–N29, SL20, D11].
type ReplyMode string

// The reply modes. The zero value is ReplyOff.
const (
	ReplyOff     ReplyMode = "off"
	ReplyFirst   ReplyMode = "first"   // the first assistant post of a turn
	ReplyAll     ReplyMode = "all"     // each
	ReplyBatched ReplyMode = "batched" // as first, but only for a message that was debounced together with others
)

// Place gives each post of a turn its reference. It is the one place that
// knows the reply slot: a reply uses it up in first and batched, a notice keeps
// its reference whether or not the slot is used and never takes it [M14, N26].
// In off no post refers to anything, except inside a thread, which the address
// already names [N27]. A post that comes without a reference passes as it is
// and uses nothing [N28]. batch says that the inbound was a debounced batch.
func Place(mode ReplyMode, batch bool, posts []Outbound) []Outbound {
	placed := make([]Outbound, len(posts))
	used := false
	for i, p := range posts {
		placed[i] = p
		if p.ReplyTo == "" {
			continue
		}
		switch {
		case mode == ReplyAll:
		case mode == ReplyFirst, mode == ReplyBatched && batch:
			if p.Kind == Notice {
				continue
			}
			if used {
				placed[i].ReplyTo = ""
			}
			used = true
		default:
			placed[i].ReplyTo = ""
		}
	}
	return placed
}
