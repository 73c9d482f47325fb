package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"standin/channels"
)

// maxLine is the longest line that is taken for a message, in bytes.
const maxLine = 1 << 20

var errLong = errors.New("line too long")

// runPiped takes a message per line, one at a time: the next line is read when
// the message before has ended. The end of the input is the end of the run.
func (c *Console) runPiped(ctx context.Context, receive channels.Receiver) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a closed output ends the wait for an answer nobody can read
		select {
		case <-c.broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	in := interruptible(c.opt.In)
	defer in.stop()
	lines := &lineReader{r: bufio.NewReaderSize(in, 64<<10)}
	for {
		text, err := lines.nextOr(ctx)
		switch {
		case ctx.Err() != nil:
			return c.ended(ctx)
		case errors.Is(err, io.EOF):
			return c.ended(ctx)
		case errors.Is(err, errLong):
			c.tell(channels.Failure, fmt.Sprintf("Line %d is longer than 1 MB and was left out.", lines.n))
			continue
		case err != nil:
			return fmt.Errorf("console: read line %d: %w", lines.n, err)
		case strings.TrimSpace(text) == "":
			continue
		}
		if err := c.hand(ctx, receive, text, true); err != nil {
			if end := c.ended(ctx); end != nil {
				return end
			}
			return err
		}
	}
}

// hand gives a message to the console's own commands or to receive, and waits
// for its ending if it shall.
func (c *Console) hand(ctx context.Context, receive channels.Receiver, text string, wait bool) error {
	if c.opt.Local != nil {
		if answer, handled := c.opt.Local(text); handled {
			if answer != "" {
				c.tell(channels.Command, answer)
			}
			return nil
		}
	}
	in, err := c.inbound(text)
	if err != nil {
		return err
	}
	if err := receive(ctx, in); err != nil {
		return fmt.Errorf("console: the message was not accepted: %w", err)
	}
	if wait && c.opt.Wait != nil {
		if err := c.opt.Wait(ctx, in); err != nil {
			return fmt.Errorf("console: wait for the answer: %w", err)
		}
	}
	return nil
}

// lineReader cuts a stream into lines of any platform.
type lineReader struct {
	r *bufio.Reader
	n int // number of the line read last, from 1
}

// nextOr is next for a caller that may have to go before the line comes.
func (l *lineReader) nextOr(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		line, err := l.next()
		got <- result{line, err}
	}()
	select {
	case r := <-got:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// next gives a line without its end, invalid UTF-8 replaced; errLong for one
// over maxLine, which is skipped; io.EOF after the last, ended or not.
func (l *lineReader) next() (string, error) {
	l.n++
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(bytes.TrimRight(part, "\r\n")) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !(errors.Is(err, io.EOF) && len(line) > 0):
			return "", err
		case long:
			return "", errLong
		}
		line = bytes.TrimRight(line, "\r\n")
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF")) // some editors' mark
		}
		return strings.ToValidUTF8(string(line), "\uFFFD"), nil
	}
}
