package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ReadSecret asks for one line that is not shown while it is typed. Without a
// terminal the first line of in is the secret, and nothing is asked. When ctx
// ends while a person types, the terminal shows again what is typed, and the
// cause of ctx is returned; the read itself cannot be woken and is left behind.
func ReadSecret(ctx context.Context, in io.Reader, out io.Writer, prompt string) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return typeSecret(ctx, int(f.Fd()), out, prompt)
	}
	line, err := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}

func typeSecret(ctx context.Context, fd int, out io.Writer, prompt string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprint(out, prompt)
	defer func() { _, _ = fmt.Fprintln(out) }()
	type typed struct {
		line []byte
		err  error
	}
	done := make(chan typed, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		done <- typed{line, err}
	}()
	select {
	case t := <-done:
		return strings.TrimSpace(string(t.line)), t.err
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		return "", context.Cause(ctx)
	}
}
