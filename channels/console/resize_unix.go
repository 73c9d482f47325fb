//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes tells of changes of the terminal's size until stop is called.
func resizes() (changed <-chan os.Signal, stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	return ch, func() { signal.Stop(ch) }
}
