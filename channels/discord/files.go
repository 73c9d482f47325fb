package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// filesOf gives a message's files. They are downloaded when they are opened.
func (c *Channel) filesOf(m *discordgo.Message) []channels.File {
	var files []channels.File
	for _, a := range m.Attachments {
		if a == nil || a.URL == "" {
			continue
		}
		files = append(files, channels.File{
			Name: a.Filename, Type: a.ContentType, Size: int64(a.Size),
			Open: func(ctx context.Context) (io.ReadCloser, error) { return c.download(ctx, m.ChannelID, m.ID, *a) },
		})
	}
	return files
}

// hosts are where Discord keeps files; a message can name any address, and the
// daemon must not be made to fetch others.
var hosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// mayFetch tells whether a file may be fetched from the address: Discord's hosts
// over https, or the host of the API itself, which is how a proxy is used.
func (c *Channel) mayFetch(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil {
		return false
	}
	if u.Host == c.api.base.Host && u.Scheme == c.api.base.Scheme {
		return true
	}
	for _, host := range hosts {
		if u.Scheme == "https" && u.Host == host {
			return true
		}
	}
	return false
}

// download fetches a file, of a fresh address when the signed one has expired.
func (c *Channel) download(ctx context.Context, conversation, message string, a discordgo.MessageAttachment) (io.ReadCloser, error) {
	most := int64(c.cfg.MediaMaxMb) << 20
	if int64(a.Size) > most {
		return nil, fmt.Errorf("%s is larger than mediaMaxMb (%d MB)", a.Filename, c.cfg.MediaMaxMb)
	}
	body, status, err := c.fetch(ctx, a.URL, most)
	if err == nil || status != http.StatusForbidden && status != http.StatusNotFound {
		return body, err
	}
	var raw json.RawMessage
	if e := c.api.do(ctx, call{method: http.MethodGet, path: "channels/" + conversation + "/messages/" + message}, &raw); e != nil {
		return nil, err
	}
	m, e := decodeMessage(raw)
	if e != nil {
		return nil, err
	}
	for _, again := range m.Attachments {
		if again != nil && again.ID == a.ID {
			body, _, err = c.fetch(ctx, again.URL, most)
			return body, err
		}
	}
	return nil, err
}

func (c *Channel) fetch(ctx context.Context, address string, most int64) (io.ReadCloser, int, error) {
	if !c.mayFetch(address) {
		return nil, 0, errors.New("the file is not on one of Discord's hosts")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, errors.New("the file's address is no URL")
	}
	client := http.Client{Transport: c.http, CheckRedirect: noRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch the file: %s", c.api.clean(err))
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, resp.StatusCode, fmt.Errorf("fetch the file: HTTP %d", resp.StatusCode)
	}
	return &capped{ReadCloser: resp.Body, left: most}, resp.StatusCode, nil
}

// capped is a body that fails when it is longer than it may be.
type capped struct {
	io.ReadCloser
	left int64
}

func (r *capped) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return n, errors.New("the file is larger than mediaMaxMb")
	}
	return n, err
}

// attach reads files that go out.
func (c *Channel) attach(ctx context.Context, files []channels.File) ([]*discordgo.File, error) {
	var all []*discordgo.File
	for _, f := range files {
		name := channels.FileName(f.Name)
		data, err := channels.ReadFile(ctx, f, int64(c.cfg.MediaMaxMb)<<20)
		if err != nil {
			return nil, &unfitFile{fmt.Sprintf("Reason: %v.", err)}
		}
		all = append(all, &discordgo.File{Name: name, ContentType: f.Type, Reader: bytes.NewReader(data)})
	}
	return all, nil
}

// unfitFile is a file that cannot be sent as it is.
type unfitFile struct{ why string }

func (u *unfitFile) Error() string { return u.why }

// unfit says why an error is about the files of a message, "" for another.
func unfit(err error) string {
	var u *unfitFile
	switch {
	case errors.As(err, &u):
		return u.why
	case codeOf(err) == codeTooLarge, statusOf(err) == http.StatusRequestEntityTooLarge:
		return "Discord takes no file of that size here."
	case codeOf(err) == codeNoPermission:
		return "The bot may not send files here; a moderator can give it the permission Attach Files."
	}
	return ""
}
