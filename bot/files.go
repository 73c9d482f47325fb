package bot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"standin/channels"
	"standin/fallback/provider"
)

// takeFiles reads the files of posts into memory, before they are written with
// the ending: what is promised must not hang on a file that somebody moves. What
// cannot be sent is said in the post's text, in its place.
func (b *Bot) takeFiles(ctx context.Context, posts []channels.Outbound) []channels.Outbound {
	taken := make([]channels.Outbound, len(posts))
	for i, p := range posts {
		if len(p.Files) > 0 {
			p = b.withFiles(ctx, p)
		}
		taken[i] = p
	}
	return taken
}

func (b *Bot) withFiles(ctx context.Context, p channels.Outbound) channels.Outbound {
	left := int64(channels.MaxFileBytes)
	var files []channels.File
	var lines []string
	for i, f := range p.Files {
		f.Name = channels.FileName(f.Name)
		if i >= channels.MaxFiles {
			lines = append(lines, sayTooManyFiles(p.Files[i:]))
			break
		}
		data, err := channels.ReadFile(ctx, f, left)
		if err != nil {
			b.Log.Warn("a file is not sent", "delivery", p.ID, "file", f.Name, "err", provider.Redact(err.Error()))
			lines = append(lines, sayFileNotSent(f.Name, err))
			continue
		}
		left -= int64(len(data))
		f.Size = int64(len(data))
		f.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		files = append(files, f)
	}
	p.Files = files
	if len(lines) > 0 {
		p.Text = strings.TrimSpace(p.Text + "\n\n" + strings.Join(lines, "\n"))
	}
	return p
}

func sayFileNotSent(name string, err error) string {
	return fmt.Sprintf("(Not sent: %s. Reason: %s.)", name, strings.TrimSuffix(provider.Redact(err.Error()), "."))
}

func sayTooManyFiles(rest []channels.File) string {
	var names []string
	for _, f := range rest {
		names = append(names, channels.FileName(f.Name))
	}
	return fmt.Sprintf("(Not sent: %s. One message takes %d files.)", strings.Join(names, ", "), channels.MaxFiles)
}
