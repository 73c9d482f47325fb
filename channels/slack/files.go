package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"standin/channels"
)

// file is an attached file as Slack tells of it.
type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"mimetype"`
	Size     int64  `json:"size"`
	Download string `json:"url_private_download"`
	Private  string `json:"url_private"`
	Mode     string `json:"mode"`
}

// attached gives the files of a message, at most eight [SL26].
func (c *Channel) attached(files []file) []channels.File {
	var all []channels.File
	for _, f := range files {
		if len(all) == maxFiles {
			c.log.Info("more files than are taken", "taken", maxFiles, "sent", len(files))
			break
		}
		link := f.Download
		if link == "" {
			link = f.Private
		}
		if link == "" || f.Mode == "tombstone" || f.Mode == "external" {
			continue
		}
		all = append(all, channels.File{
			Name: f.Name, Type: f.Type, Size: f.Size,
			Open: func(ctx context.Context) (io.ReadCloser, error) { return c.open(ctx, f, link) },
		})
	}
	return all
}

// open downloads a file with the bot's token. The token goes to Slack's hosts
// only, also after a redirect, and a sign-in page is no file [SL26].
func (c *Channel) open(ctx context.Context, f file, link string) (io.ReadCloser, error) {
	limit := int64(c.cfg.MediaMaxMb) << 20
	if f.Size > limit {
		return nil, fmt.Errorf("slack: file %s has %d bytes, more than mediaMaxMb %d", f.ID, f.Size, c.cfg.MediaMaxMb)
	}
	u, err := url.Parse(link)
	if err != nil || !c.mayHaveToken(u) {
		return nil, fmt.Errorf("slack: file %s is not on a host of Slack's", f.ID)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return nil, fmt.Errorf("slack: file %s: %w", f.ID, plainError(err))
	}
	req.Header.Set("Authorization", "Bearer "+c.opt.Bot.Reveal())
	client := *c.http
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("too many redirects")
		}
		if !c.mayHaveToken(r.URL) {
			r.Header.Del("Authorization")
		}
		return nil
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("slack: file %s: %w", f.ID, plainError(err))
	}
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && !strings.HasPrefix(f.Type, "text/html")
	switch {
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("slack: file %s: HTTP %d", f.ID, resp.StatusCode)
	case page:
		err = fmt.Errorf("slack: file %s: Slack answered with a page; does the app have files:read?", f.ID)
	case resp.ContentLength > limit:
		err = fmt.Errorf("slack: file %s has %d bytes, more than mediaMaxMb %d", f.ID, resp.ContentLength, c.cfg.MediaMaxMb)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return &capped{r: resp.Body, left: limit, id: f.ID}, nil
}

// mayHaveToken tells whether a host is Slack's, or the one that the Web API is
// reached at.
func (c *Channel) mayHaveToken(u *url.URL) bool {
	if api, err := url.Parse(c.cfg.APIURL); err == nil && u.Scheme == api.Scheme && strings.EqualFold(u.Host, api.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	for _, d := range []string{"slack.com", "slack-files.com", "slack-gov.com"} {
		if u.Scheme == "https" && (host == d || strings.HasSuffix(host, "."+d)) {
			return true
		}
	}
	return false
}

// capped reads at most left bytes and then fails: half a file is none.
type capped struct {
	r    io.ReadCloser
	left int64
	id   string
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, fmt.Errorf("slack: file %s is larger than mediaMaxMb", c.id)
	}
	return n, err
}

func (c *capped) Close() error { return c.r.Close() }
