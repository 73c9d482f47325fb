//go:build !unix

package console

import "os"

// resizes: this platform does not tell; the next key or tick sees the new size.
func resizes() (changed <-chan os.Signal, stop func()) { return nil, func() {} }
