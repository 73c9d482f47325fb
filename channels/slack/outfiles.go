package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// Files go out in three steps [SL26]: a place for each is asked for, its bytes
// are sent there, and one last call makes all of them a message with the text as
// its comment. Only that last call shows anything. Such a message carries no
// metadata of ours, so the file's own id is what it is found by: it is written
// down with the delivery before the last call [I2].

// uploadTime bounds the sending of one file.
const uploadTime = 50 * time.Second

// unfit is what the workspace does not take for its files.
type unfit struct{ why string }

func (u *unfit) Error() string { return u.why }

// share posts the first part of a delivery with its files.
func (c *Channel) share(ctx context.Context, out channels.Outbound, thread, text string, p *progress) (string, error) {
	if out.Only != "" {
		return "", &unfit{"What only one person sees cannot have files here."}
	}
	c.recallRefs(out, p)
	known := len(p.refs) > 0
	for {
		if len(p.refs) == 0 {
			if err := c.upload(ctx, out.Files, p); err != nil {
				return "", err
			}
		}
		params := slackapi.CompleteUploadExternalParameters{Channel: out.To.Conversation, ThreadTimestamp: thread, InitialComment: mrkdwn(text)}
		for i, id := range p.refs {
			params.Files = append(params.Files, slackapi.FileSummary{ID: id, Title: channels.FileName(out.Files[i].Name)})
		}
		err := c.writing(ctx, func(ctx context.Context) error {
			_, err := c.api.CompleteUploadExternalContext(ctx, params)
			return err
		})
		switch code := codeOf(err); {
		case err == nil:
			return c.postOf(ctx, p.refs[0], out.To.Conversation), nil
		case code == "file_not_found" && known: // an upload of before: it stands, or Slack has let go of it
			if ts, err := c.shared(ctx, p.refs[0], out.To.Conversation); err != nil || ts != "" {
				return ts, unseen(sendError(err, true))
			}
			known, p.refs = false, nil
		case code == "thread_not_found" && thread != "":
			c.log.Warn("the thread is gone, posting to the conversation", "conversation", out.To.Conversation, "thread", thread)
			thread = ""
		default:
			return "", refusedFiles(err)
		}
	}
}

// recallRefs takes up the uploads of a former try, if every file has one.
func (c *Channel) recallRefs(out channels.Outbound, p *progress) {
	if len(p.refs) > 0 {
		return
	}
	var refs []string
	for _, f := range out.Files {
		if f.Ref == "" {
			return
		}
		refs = append(refs, f.Ref)
	}
	p.refs = refs
}

// upload sends the bytes of the files, which shows nothing yet.
func (c *Channel) upload(ctx context.Context, files []channels.File, p *progress) error {
	var refs []string
	for _, f := range files {
		name := channels.FileName(f.Name)
		data, err := channels.ReadFile(ctx, f, int64(c.cfg.MediaMaxMb)<<20)
		if err != nil {
			return &unfit{fmt.Sprintf("Reason: %v.", err)}
		}
		id, err := c.uploadOne(ctx, name, data)
		if err != nil {
			return refusedFiles(unseen(err))
		}
		if f.Keep != nil {
			if err := f.Keep(ctx, id); err != nil {
				return &channels.SendError{Outcome: channels.NotSent, Err: err}
			}
		}
		refs = append(refs, id)
	}
	p.refs = refs
	return nil
}

func (c *Channel) uploadOne(ctx context.Context, name string, data []byte) (id string, err error) {
	var place *slackapi.GetUploadURLExternalResponse
	err = c.writing(ctx, func(ctx context.Context) (err error) {
		place, err = c.api.GetUploadURLExternalContext(ctx, slackapi.GetUploadURLExternalParameters{FileName: name, FileSize: len(data)})
		return err
	})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	err = c.api.UploadToURL(ctx, slackapi.UploadToURLParameters{UploadURL: place.UploadURL, Filename: name, Reader: bytes.NewReader(data)})
	return place.FileID, sendError(err, false)
}

// unseen turns "unknown" into "not sent" for calls that nobody sees anything of.
func unseen(err error) error {
	var se *channels.SendError
	if errors.As(err, &se) && se.Outcome == channels.Unknown {
		return &channels.SendError{Outcome: channels.NotSent, RetryAfter: se.RetryAfter, Err: se.Err}
	}
	return err
}

// refusedFiles says of an error what of it is about the files: then the text is
// posted without them.
func refusedFiles(err error) error {
	switch code := codeOf(err); {
	case err == nil:
		return nil
	case code == "missing_scope", code == "no_permission":
		return &unfit{"The app may not send files here; its owner can give it the scope files:write."}
	case code == "file_uploads_disabled", code == "file_uploads_except_images_disabled":
		return &unfit{"This workspace has switched file uploads off."}
	case code == "storage_limit_reached", code == "file_upload_size_restricted", code == "over_file_size_limit":
		return &unfit{"This workspace takes no file of that size."}
	case code == "channel_not_found", code == "not_in_channel", code == "is_archived":
		return err // nor would it take the text
	case channels.OutcomeOf(err) == channels.Refused && code != "":
		return &unfit{"Slack refused it: " + code + "."}
	}
	return err
}

// postOf gives the message that shows a file in a conversation; the file's own
// name where Slack does not tell, so that there is a receipt.
func (c *Channel) postOf(ctx context.Context, file, conversation string) string {
	if ts, err := c.shared(ctx, file, conversation); err == nil && ts != "" {
		return ts
	}
	return "file:" + file
}

// shared looks for the message that shows a file in a conversation, "" when
// there is none.
func (c *Channel) shared(ctx context.Context, file, conversation string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.call)
	defer cancel()
	info, _, _, err := c.api.GetFileInfoContext(ctx, file, 0, 0)
	switch codeOf(err) {
	case "file_not_found", "file_deleted":
		return "", nil
	}
	if err != nil {
		return "", plainError(err)
	}
	for _, places := range []map[string][]slackapi.ShareFileInfo{info.Shares.Public, info.Shares.Private} {
		for _, s := range places[conversation] {
			if s.Ts != "" {
				return s.Ts, nil
			}
		}
	}
	return "", nil
}

// lookForFiles writes the message of a delivery's files into p, if there is one.
// Files whose last call was never made have no id that was written down.
func (c *Channel) lookForFiles(ctx context.Context, out channels.Outbound, p *progress) error {
	if c.recallRefs(out, p); len(p.refs) == 0 || p.parts[0] != "" {
		return nil
	}
	ts, err := c.shared(ctx, p.refs[0], out.To.Conversation)
	if err == nil && ts != "" {
		p.parts[0] = ts
	}
	return err
}
