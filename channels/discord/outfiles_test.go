package discord

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/discord/discordtest"
)

func (w *world) withFile(id, text string) channels.Outbound {
	out := w.out(id, w.room.ID, text)
	out.Files = []channels.File{channeltest.TextFile("a report.txt", "all of it")}
	return out
}

// Files go out with the first message, which carries the nonce as any other.
func TestFilesGoOut(t *testing.T) {
	w := newWorld(t, setup{})
	w.mustSend(w.withFile("d1", strings.Repeat("word ", 500)))
	posts := w.s.Posts(w.room.ID)
	if len(posts) < 2 || len(posts[0].Files) != 1 || posts[0].Nonce == "" || len(posts[1].Files) != 0 {
		t.Errorf("posts %+v", posts)
	}
}

// Whatever the post of a file meets, it stands there once, also when the look is
// that of the next process [I2].
func TestAFileIsPostedOnce(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"the answer is lost":        {Cut: true, Applied: true},
		"the call is lost":          {Cut: true},
		"Discord breaks behind it":  {Status: 500, Applied: true},
		"Discord breaks before it":  {Status: 502},
		"there is a limit, no post": discordtest.Limited("", "", 0),
	} {
		for _, text := range []string{"see here", ""} {
			t.Run(name+", "+text, func(t *testing.T) {
				w := newWorld(t, setup{})
				fault.Method, fault.Path = http.MethodPost, "/messages"
				w.s.Break(fault)
				out := w.withFile("d1", text)
				_, err := w.c.Send(w.soon(), out)
				next, posted := w.channel(setup{}), err == nil
				if channels.OutcomeOf(err) == channels.Unknown {
					if _, posted, err = next.Find(w.soon(), out); err != nil || posted != fault.Applied {
						t.Fatalf("Find gave %v %v", posted, err)
					}
				}
				if !posted {
					if _, err := next.Send(w.soon(), out); err != nil {
						t.Fatal(err)
					}
				}
				if got := w.s.FilesIn(w.room.ID); len(got) != 1 || !strings.HasSuffix(got[0], ": all of it") {
					t.Errorf("there is %q", got)
				}
				w.wantTexts(w.room.ID, text)
			})
		}
	}
}

// What Discord does not take for its files is said in their place; the text
// comes all the same, once.
func TestFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, says string
		fault      discordtest.Fault
	}{
		{"too large", "no file of that size", discordtest.Fault{Status: http.StatusRequestEntityTooLarge, Body: `{"message":"Request entity too large","code":40005}`}},
		{"too large for the edge", "no file of that size", discordtest.Fault{Status: http.StatusRequestEntityTooLarge, Body: "<html>"}},
		{"no permission", "Attach Files", discordtest.Fault{Status: http.StatusForbidden, Body: `{"message":"Missing Permissions","code":50013}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{})
			c.fault.Method, c.fault.Path = http.MethodPost, "/messages"
			w.s.Break(c.fault)
			out := w.withFile("d1", "see here")
			if first, again := w.mustSend(out), w.mustSend(out); first != again {
				t.Errorf("receipts %v and %v", first, again)
			}
			got := strings.Join(w.texts(w.room.ID), "\n")
			if strings.Count(got, "see here") != 1 || !strings.Contains(got, c.says) || !strings.Contains(got, "a report.txt") {
				t.Errorf("the room reads %q", got)
			}
			if files := w.s.FilesIn(w.room.ID); !slices.Equal(files, nil) {
				t.Errorf("there is %q", files)
			}
		})
	}
}
