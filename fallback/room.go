package fallback

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"standin/fallback/provider"
)

// How much of what tools gave back a model is shown within one turn. A window is
// met by making what is oldest shorter: calls and results stay, with their ids,
// for vendors refuse one without the other.

const (
	// answerRoom is kept free of the window for the answer, in tokens; in a small
	// window a quarter of it, as between turns [S19].
	answerRoom = 20_000
	// cutTo is what is left of an old result, in characters: enough to know what
	// it was about.
	cutTo = 400
)

// promptRoom is how many tokens a prompt may hold in the window, 0 unknown.
func promptRoom(window int64) int64 { return window - min(answerRoom, window/4) }

// tokensOf estimates what a message comes to, at four bytes a token.
func tokensOf(m provider.Message) int64 {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Input)
	}
	for _, r := range m.Results {
		n += len(r.Text)
	}
	return int64(n)/4 + int64(len(m.Calls)+len(m.Results)) + 1
}

func tokensOfAll(talk []provider.Message) (n int64) {
	for _, m := range talk {
		n += tokensOf(m)
	}
	return n
}

// within is the exchange with tools cut to fit into room tokens: the oldest first,
// and the latest round only when nothing else is left to cut. The first short
// messages are cut already; the answer says how many now are. What it was given
// stays as it is.
func within(said []provider.Message, short int, room int64) (shown []provider.Message, nowShort int) {
	shown = slices.Clone(said)
	for i := range short {
		shown[i] = cutShort(shown[i], cutTo)
	}
	if tokensOfAll(shown) <= room {
		return shown, short
	}
	// A little more than is needed: what is sent round after round should begin
	// the same way for a while, for vendors' caches.
	spare := room * 3 / 4
	last := max(len(shown)-2, 0) // the latest calls and what they gave
	for ; short < last && tokensOfAll(shown) > spare; short++ {
		shown[short] = cutShort(shown[short], cutTo)
	}
	for chars := 64_000; chars >= cutTo && tokensOfAll(shown) > room; chars /= 2 {
		for i := last; i < len(said); i++ {
			shown[i] = cutShort(said[i], chars)
		}
	}
	return shown, short
}

// cutShort is a message whose results, and what its calls were given, have no
// more than chars characters.
func cutShort(m provider.Message, chars int) provider.Message {
	m.Results, m.Calls = slices.Clone(m.Results), slices.Clone(m.Calls)
	for i, r := range m.Results {
		if n := utf8.RuneCountInString(r.Text); n > chars {
			m.Results[i].Text = clip(r.Text, chars) + fmt.Sprintf("\n[cut to make room: %d of %d characters. Use the tool again for the rest, a part at a time.]", chars, n)
		}
	}
	for i, c := range m.Calls {
		if n := utf8.RuneCountInString(c.Input); n > max(chars, cutTo) {
			m.Calls[i].Input = leftOut(n)
		}
	}
	return m
}

// leftOut stands in for a long input; vendors want an object there.
func leftOut(n int) string {
	text, _ := json.Marshal(map[string]string{"left_out": fmt.Sprintf("%d characters, to make room", n)})
	return string(text)
}
