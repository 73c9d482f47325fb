package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"standin/channels"
)

// A terminal shows no files: they are saved, and what is printed says where.

// withFiles saves the files of a delivery and gives the text that tells of them.
// A delivery that is printed again saves over what it saved before.
func (c *Console) withFiles(ctx context.Context, out channels.Outbound) (channels.Outbound, error) {
	if len(out.Files) == 0 {
		return out, nil
	}
	if c.opt.Files == "" {
		return channels.WithoutFiles(out, "This console has no folder for files."), nil
	}
	folder := filepath.Join(c.opt.Files, channels.FileName(out.ID))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return out, &channels.SendError{Outcome: channels.NotSent, Err: fmt.Errorf("console: folder for files: %w", err)}
	}
	lines := []string{out.Text}
	used := map[string]bool{}
	for i, f := range out.Files {
		name := channels.FileName(f.Name)
		if used[strings.ToLower(name)] {
			name = fmt.Sprintf("%d-%s", i+1, name)
		}
		used[strings.ToLower(name)] = true
		data, err := channels.ReadFile(ctx, f, channels.MaxFileBytes)
		if err != nil {
			lines = append(lines, fmt.Sprintf("(Not sent: %s. Reason: %v.)", name, err))
			continue
		}
		path := filepath.Join(folder, name)
		if err := save(path, data); err != nil {
			return out, &channels.SendError{Outcome: channels.NotSent, Err: fmt.Errorf("console: save %s: %w", name, err)}
		}
		lines = append(lines, fmt.Sprintf("File %s was saved as %s", name, path))
	}
	out.Text, out.Files = strings.TrimSpace(strings.Join(lines, "\n")), nil
	return out, nil
}

// save writes a file that only its owner reads, whole or not at all.
func save(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".saving-*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
