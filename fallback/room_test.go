package fallback

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"standin/fallback/provider"
)

// Whatever the results, the prompt meets the room that it can be given, ids stay,
// and nothing is cut while there is room.
func TestWithinKeepsEveryID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var said []provider.Message
		for i := range rapid.IntRange(1, 8).Draw(t, "rounds") {
			ask, give := provider.Message{Role: provider.Assistant}, provider.Message{Role: provider.User}
			for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprint(i, "-", k)
				ask.Calls = append(ask.Calls, provider.ToolCall{ID: id, Name: "look", Input: fmt.Sprintf(`{"q":%q}`, strings.Repeat("q", rapid.IntRange(0, 9000).Draw(t, "input")))})
				give.Results = append(give.Results, provider.ToolResult{ID: id, Name: "look", Text: strings.Repeat("ä", rapid.IntRange(0, 60_000).Draw(t, "chars"))})
			}
			said = append(said, ask, give)
		}
		room := int64(rapid.IntRange(8_000, 60_000).Draw(t, "room"))
		shown, short := within(said, 0, room)
		before, _ := idsOf(said)
		asked, answered := idsOf(shown)
		if !slices.Equal(before, asked) || !slices.Equal(asked, answered) || short > len(said) {
			t.Fatalf("ids %v %v", asked, answered)
		}
		if size := tokensOfAll(shown); size > room {
			t.Fatalf("%d tokens in a room of %d", size, room)
		}
		again, stays := within(said, short, room)
		if stays != short || tokensOfAll(again) != tokensOfAll(shown) {
			t.Fatal("what is sent changes from one try to the next")
		}
	})
}

func idsOf(talk []provider.Message) (asked, answered []string) {
	for _, m := range talk {
		for _, c := range m.Calls {
			asked = append(asked, c.ID)
		}
		for _, r := range m.Results {
			answered = append(answered, r.ID)
		}
	}
	return asked, answered
}
