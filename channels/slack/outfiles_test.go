package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/slack/slacktest"
)

// withFile is a reply with a file whose upload is remembered in ref.
func withFile(id string, to channels.Address, text string, ref *string) channels.Outbound {
	out := reply(id, to, text)
	f := channeltest.TextFile("report.txt", "all of it")
	if ref != nil {
		f.Ref = *ref
		f.Keep = func(_ context.Context, r string) error { *ref = r; return nil }
	}
	out.Files = []channels.File{f}
	return out
}

// Whatever the last call of an upload meets, the file stands there once, also
// when the look is that of the next process, which knows only what was written
// down [I2].
func TestAFileIsPostedOnce(t *testing.T) {
	for name, fault := range map[string]slacktest.Fault{
		"the answer is lost":           {Cut: true, Applied: true},
		"the call is lost":             {Cut: true},
		"Slack breaks behind it":       {Status: 500, Applied: true},
		"Slack breaks before it":       {Status: 502},
		"a page comes instead":         {Body: "<html>", Applied: true},
		"there is a limit, and no act": {Status: 429, RetryAfter: "1"},
	} {
		for _, restart := range []bool{false, true} {
			title := name
			if restart {
				title += ", and the process ends"
			}
			t.Run(title, func(t *testing.T) {
				r := newRig(t, setup{})
				ref := ""
				r.s.Fail("files.completeUploadExternal", fault)
				to := r.to(slacktest.General, "")
				_, err := r.c.Send(r.ctx, withFile("d1", to, "see here", &ref))
				if err == nil {
					t.Fatal("it was not told of")
				}
				c := r.c
				if restart {
					c = nextProcess(t, r)
				}
				out := withFile("d1", to, "see here", &ref)
				posted := false
				if channels.OutcomeOf(err) == channels.Unknown || restart {
					var rc channels.Receipt
					if rc, posted, err = c.Find(r.ctx, out); err != nil || posted != fault.Applied || posted && tsOf(rc.MessageID) == "" {
						t.Fatalf("Find gave %v %v %v", rc, posted, err)
					}
				}
				if !posted {
					if _, err := c.Send(r.ctx, out); err != nil {
						t.Fatal(err)
					}
				}
				if got := r.s.FilesIn(slacktest.General); !slices.Equal(got, []string{"report.txt: all of it"}) {
					t.Errorf("there is %q", got)
				}
				if got := r.s.Seen(slacktest.General); got != "see here" {
					t.Errorf("the room reads %q", got)
				}
			})
		}
	}
}

// A long text goes on below its file, in the same thread.
func TestALongTextWithAFile(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.TextChunkLimit = 200 }})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "root"})
	out := withFile("d1", r.to(slacktest.General, root), strings.Repeat("word ", 100), nil)
	r.send(out)
	posts := r.s.Posts(slacktest.General)
	if len(posts) < 3 || len(posts[0].Files) != 1 || posts[0].Thread != root || len(posts[1].Files) != 0 || posts[1].Thread != root {
		t.Errorf("posts: %+v", posts)
	}
}

// What the workspace does not take for its files is said in their place; the
// text comes all the same, once.
func TestFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, method, code, says string }{
		{"no scope", "files.getUploadURLExternal", "missing_scope", "files:write"},
		{"uploads are off", "files.getUploadURLExternal", "file_uploads_disabled", "switched file uploads off"},
		{"too large for the plan", "files.completeUploadExternal", "storage_limit_reached", "no file of that size"},
		{"something else", "files.completeUploadExternal", "posting_to_channel_denied", "posting_to_channel_denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			r.s.Fail(c.method, slacktest.Fault{Code: c.code})
			out := withFile("d1", r.to(slacktest.DM, ""), "see here", nil)
			first := r.send(out)
			if again := r.send(out); again != first {
				t.Errorf("receipts %v and %v", first, again)
			}
			got := r.s.Seen(slacktest.DM)
			if strings.Count(got, "see here") != 1 || !strings.Contains(got, c.says) || !strings.Contains(got, "report.txt") || len(r.s.FilesIn(slacktest.DM)) > 0 {
				t.Errorf("the room reads %q", got)
			}
		})
	}
}

// A conversation that takes nothing takes no file: that is a refusal like any other.
func TestAFileForAConversationThatIsGone(t *testing.T) {
	r := newRig(t, setup{})
	_, err := r.c.Send(r.ctx, withFile("d1", r.to("C0GONE", ""), "see here", nil))
	if channels.OutcomeOf(err) != channels.Refused {
		t.Errorf("gave %v", err)
	}
}

// What cannot be written down is not shown: the next process could not find it.
func TestAFileWhoseUploadCannotBeWrittenDown(t *testing.T) {
	r := newRig(t, setup{})
	out := withFile("d1", r.to(slacktest.DM, ""), "see here", nil)
	out.Files[0].Keep = func(context.Context, string) error { return errors.New("the disk is full") }
	if _, err := r.c.Send(r.ctx, out); channels.OutcomeOf(err) != channels.NotSent {
		t.Errorf("gave %v", err)
	}
	if got := r.s.Posts(slacktest.DM); len(got) != 0 {
		t.Errorf("there stands %+v", got)
	}
}
