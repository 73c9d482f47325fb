package policy

// How long a conversation may become before it is summarised [S19], in tokens.
const (
	reserveTokens = 16_384 // kept free for the answer (agents.defaults.compaction.reserveTokens)
	reserveFloor  = 20_000 // and never less than this, where the window has room for it
	keepTokens    = 20_000 // of the latest that stay word for word (keepRecentTokens)
	// charsPerToken is the usual estimate; a picture counts as imageTokens.
	charsPerToken = 4
	imageTokens   = 1500
)

// Compaction is agents.defaults.compaction; zero values are the defaults.
type Compaction struct {
	Off     bool // mode off: nothing is summarised unasked
	Reserve int64
	Floor   int64 // 0: the default; negative: none
	Keep    int64
	Notify  bool // the room is told (notifyUser)
}

// Fit is how much of a conversation goes into one call, in tokens. A zero Limit
// means that nobody knows the window.
type Fit struct {
	Limit int64 // of the whole prompt
	Keep  int64 // of the latest entries, when the others are summarised
	Piece int64 // of what one call of a summary may take in
}

// Fits reads the settings for a model with the window, 0 unknown. In a small
// window the reserve is a quarter of it, and what is kept a half of the rest.
func (c Compaction) Fits(window int64) Fit {
	keep := or(c.Keep, keepTokens)
	if window <= 0 {
		return Fit{Keep: keep, Piece: keepTokens}
	}
	reserve := or(c.Reserve, reserveTokens)
	if c.Floor >= 0 {
		reserve = max(reserve, or(c.Floor, reserveFloor))
	}
	limit := window - min(reserve, window/4)
	return Fit{Limit: limit, Keep: min(keep, limit/2), Piece: max(min(limit/2, 4*keepTokens), 500)}
}

func or(n, otherwise int64) int64 {
	if n > 0 {
		return n
	}
	return otherwise
}

// Tokens estimates what a text comes to.
func Tokens(chars int) int64 { return int64(chars)/charsPerToken + 1 }

// ImageTokens estimates what a picture comes to.
const ImageTokens = imageTokens
