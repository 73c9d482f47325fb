package console

import (
	"fmt"
	"io"
	"os"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// IsTerminal reports whether both ends are a terminal, so that the line editor
// makes sense. A caller that knows the environment also asks for TERM: "dumb"
// cannot move the cursor.
func IsTerminal(in io.Reader, out io.Writer) bool {
	i, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(i.Fd())) {
		return false
	}
	return IsScreen(out)
}

// IsScreen tells whether what is written to out is seen on a terminal.
func IsScreen(out io.Writer) bool {
	o, ok := out.(*os.File)
	return ok && term.IsTerminal(int(o.Fd()))
}

// size gives the terminal's cells; a terminal that does not know is 80 by 24.
func (c *Console) size() (width, height int) {
	if f, ok := c.opt.Out.(*os.File); ok && (c.opt.Width == nil || c.opt.Height == nil) {
		width, height, _ = term.GetSize(int(f.Fd()))
	}
	if c.opt.Width != nil {
		width = c.opt.Width()
	}
	if c.opt.Height != nil {
		height = c.opt.Height()
	}
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

// raw hands every key to us until restore is called. What is not a file (a
// test, a network) is taken as raw already.
func raw(in io.Reader) (restore func(), err error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}, nil
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, fmt.Errorf("console: take the keyboard: %w", err)
	}
	return func() { _ = term.Restore(int(f.Fd()), before) }, nil
}

// input is a reader whose pending Read can be ended, where the platform can.
type input struct {
	io.Reader
	cancel cancelreader.CancelReader
}

// interruptible wraps in. Regular files and plain readers cannot be interrupted
// and need not: they give what they have.
func interruptible(in io.Reader) input {
	if f, ok := in.(*os.File); ok {
		if r, err := cancelreader.NewReader(f); err == nil {
			return input{Reader: r, cancel: r}
		}
	}
	return input{Reader: in}
}

// stop ends a pending Read and reports whether it could.
func (i input) stop() bool { return i.cancel != nil && i.cancel.Cancel() }
