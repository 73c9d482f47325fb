package bot_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
)

// mails has something said that no turn says, with files.
func (h *house) mails(id, text string, files ...channels.File) {
	h.t.Helper()
	h.mailsTo("dm", id, text, files...)
}

func (h *house) mailsTo(conversation, id, text string, files ...channels.File) {
	h.t.Helper()
	out := channels.Outbound{ID: id, To: channels.Address{Channel: "room", Conversation: conversation}, Kind: channels.Reply, Text: text, Files: files}
	if err := h.bot.Post(context.Background(), out); err != nil {
		h.t.Fatal(err)
	}
}

// Files come with their text, once, through a send that fails, a crash and a
// restart: they were read when they were promised.
func TestFilesOutliveTheProcess(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		content := "as it was then"
		file := channels.File{Name: "report.txt", Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(content)), nil
		}}
		h.room.Refuse(1, channels.NotSent)
		h.mails("d1", "see here", file)
		content = "as it is now"
		h.later(100 * time.Millisecond)
		h.crash()
		h.restart()
		h.later(time.Minute)
		if got := h.room.Files(); !slices.Equal(got, []string{"report.txt: as it was then"}) {
			t.Errorf("there is %q", got)
		}
		h.wantTexts(t, "see here")
	})
}

// What cannot be sent is told of by name, with the reason; the rest comes.
func TestFilesThatCannotBeSent(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		huge := channels.File{Name: "film.mp4", Size: channels.MaxFileBytes + 1, Open: func(context.Context) (io.ReadCloser, error) { panic("it was opened") }}
		liar := channels.File{Name: "endless.bin", Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(zeros{}), nil }}
		gone := channels.File{Name: "gone.txt", Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("no such file") }}
		h.mails("d1", "see here", huge, liar, gone, channeltest.TextFile("empty.txt", ""), channeltest.TextFile("fine.txt", "fine"))
		h.settle()
		h.wantTexts(t, "see here\n\n"+
			"(Not sent: film.mp4. Reason: it has more than the 25 MB that can be sent.)\n"+
			"(Not sent: endless.bin. Reason: it has more than the 25 MB that can be sent.)\n"+
			"(Not sent: gone.txt. Reason: no such file.)\n"+
			"(Not sent: empty.txt. Reason: it is empty.)")
		if got := h.room.Files(); !slices.Equal(got, []string{"fine.txt: fine"}) {
			t.Errorf("there is %q", got)
		}
	})
}

// One message takes ten files.
func TestTooManyFiles(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var files []channels.File
		for _, n := range "abcdefghijkl" {
			files = append(files, channeltest.TextFile(string(n), "x"))
		}
		h.mails("d1", "", files...)
		h.settle()
		h.wantTexts(t, "(Not sent: k, l. One message takes 10 files.)")
		if n := len(h.room.Files()); n != channels.MaxFiles {
			t.Errorf("%d files", n)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
