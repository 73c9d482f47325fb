package channels

// Happening is what an Inbound tells that is no message: something was done to
// a message or to a room. It starts no turn; the agent hears of it with the
// next one [SL16, D4].
type Happening struct {
	Kind HappeningKind
	// Message is the platform's id of the message it is about, "" for none.
	Message string
	// Own says that this message is the agent's own.
	Own bool
	// Detail is the emoji of a reaction, or the new name of a room.
	Detail string
}

// HappeningKind says what was done. The Inbound's From did it, except with
// Deleted, where it is the message's author; an empty From is not known.
type HappeningKind string

// The kinds of happenings.
const (
	Edited    HappeningKind = "edited" // Inbound.Text is the new text
	Deleted   HappeningKind = "deleted"
	Reacted   HappeningKind = "reacted"
	Unreacted HappeningKind = "unreacted"
	Pinned    HappeningKind = "pinned"
	Unpinned  HappeningKind = "unpinned"
	Joined    HappeningKind = "joined"
	Left      HappeningKind = "left"
	Renamed   HappeningKind = "renamed"
)
