package channels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What one Outbound may carry. Platforms and workspaces may take less; what they
// refuse is said in place of the file.
const (
	MaxFiles     = 10       // Discord takes no more with one message
	MaxFileBytes = 25 << 20 // of all of them together
)

// ReadFile reads a file that goes out, at most limit bytes of it.
func ReadFile(ctx context.Context, f File, limit int64) ([]byte, error) {
	if f.Open == nil {
		return nil, errors.New("it cannot be opened any more")
	}
	if f.Size > limit {
		return nil, tooLarge(f.Size, limit)
	}
	body, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	_ = body.Close()
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, tooLarge(int64(len(data)), limit)
	case len(data) == 0:
		return nil, errors.New("it is empty")
	}
	return data, nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("it has more than the %s that can be sent", megabytes(min(size, limit)))
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", max(n>>10, 1))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// FileName makes a name that every platform and file system takes: no path, no
// control characters, not too long.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	name = strings.TrimLeft(name, ". ")
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[len(runes)-maxName:]) // its end tells what it is
	}
	if name == "" {
		return "file"
	}
	return name
}

const maxName = 100

// WithoutFiles is a post whose files cannot come, with a line that says so in
// their place.
func WithoutFiles(out Outbound, why string) Outbound {
	var names []string
	for _, f := range out.Files {
		names = append(names, FileName(f.Name))
	}
	line := fmt.Sprintf("(Not sent: %s. %s)", strings.Join(names, ", "), why)
	out.Text, out.Files = strings.TrimSpace(out.Text+"\n\n"+line), nil
	return out
}
