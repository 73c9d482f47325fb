package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ReadSecret asks for one line that is not shown while it is typed. Without a
// terminal the first line of in is the secret, and nothing is asked.
func ReadSecret(in io.Reader, out io.Writer, prompt string) (string, error) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		_, _ = fmt.Fprint(out, prompt)
		line, err := term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(out)
		return strings.TrimSpace(string(line)), err
	}
	line, err := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}
