package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxFile bounds a file that is read or written, in bytes.
const maxFile = 1 << 20

// Workspace gives read, write, edit and ls of the agent's own folder [G36].
// os.Root holds them inside it: no .. and no link leads out, whatever happens to
// the folder meanwhile. They are the owner's: what stands there becomes part of
// the instructions.
func Workspace() []Tool {
	return []Tool{
		{
			Name: "read", Owner: true, Private: true, Run: readFile,
			Description: "Reads a text file of your workspace.",
			Schema: `{"type":"object","properties":{"path":{"type":"string"},
				"line":{"type":"integer","minimum":1,"description":"First line, default 1."},
				"lines":{"type":"integer","minimum":1,"description":"How many, default 400."}},"required":["path"],"additionalProperties":false}`,
		},
		{
			Name: "write", Owner: true, Alone: true, Run: writeFile,
			Description: "Writes a text file of your workspace whole, and makes its folders. What was there is replaced.",
			Schema:      `{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path","text"],"additionalProperties":false}`,
		},
		{
			Name: "edit", Owner: true, Alone: true, Run: editFile,
			Description: "Replaces a passage of a text file in your workspace. old must stand there exactly once.",
			Schema:      `{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}},"required":["path","old","new"],"additionalProperties":false}`,
		},
		{
			Name: "ls", Owner: true, Private: true, Run: listFolder,
			Description: "Lists a folder of your workspace.",
			Schema:      `{"type":"object","properties":{"path":{"type":"string","description":"Default: the workspace itself."}},"additionalProperties":false}`,
		},
	}
}

// inside opens the workspace and gives a path within it.
func inside(at Place, name string) (*os.Root, string, error) {
	if at.Workspace == "" {
		return nil, "", errors.New("this agent has no workspace; agents.defaults.workspace names one")
	}
	name = path.Clean(strings.TrimPrefix(strings.ReplaceAll(name, "\\", "/"), "./"))
	if path.IsAbs(name) {
		rest, ok := strings.CutPrefix(name, path.Clean(at.Workspace)+"/")
		if !ok {
			return nil, "", fmt.Errorf("%s is outside the workspace; give a path within it, such as notes.md", name)
		}
		name = rest
	}
	root, err := os.OpenRoot(at.Workspace)
	if err != nil {
		return nil, "", fmt.Errorf("the workspace cannot be opened: %w", plain(err))
	}
	return root, name, nil
}

// plain takes this machine's paths out of a file error.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func slurp(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, plain(err))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", name)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%s is too large: %d bytes of at most %d", name, info.Size(), maxFile)
	}
	b, err := root.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, plain(err))
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("%s is not a text file", name)
	}
	return string(b), nil
}

func readFile(_ context.Context, at Place, input json.RawMessage) (Result, error) {
	in, err := Read[struct {
		Path        string
		Line, Lines int
	}](input)
	if err != nil {
		return Result{}, err
	}
	root, name, err := inside(at, in.Path)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	text, err := slurp(root, name)
	if err != nil {
		return Result{}, err
	}
	if in.Lines <= 0 {
		in.Lines = 400
	}
	all := strings.Split(text, "\n")
	from := min(max(in.Line, 1), len(all)) - 1
	to := min(from+in.Lines, len(all))
	shown := strings.Join(all[from:to], "\n")
	if from > 0 || to < len(all) {
		shown += fmt.Sprintf("\n[lines %d to %d of %d]", from+1, to, len(all))
	}
	return Say("%s", shown)
}

func writeFile(_ context.Context, at Place, input json.RawMessage) (Result, error) {
	in, err := Read[struct{ Path, Text string }](input)
	if err != nil {
		return Result{}, err
	}
	root, name, err := inside(at, in.Path)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	if err := put(root, name, in.Text); err != nil {
		return Result{}, err
	}
	return Say("wrote %s, %d bytes", name, len(in.Text))
}

func editFile(_ context.Context, at Place, input json.RawMessage) (Result, error) {
	in, err := Read[struct{ Path, Old, New string }](input)
	if err != nil {
		return Result{}, err
	}
	root, name, err := inside(at, in.Path)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	text, err := slurp(root, name)
	if err != nil {
		return Result{}, err
	}
	switch n := strings.Count(text, in.Old); {
	case in.Old == "":
		return Result{}, errors.New("old is empty; write replaces a whole file")
	case n != 1:
		return Result{}, fmt.Errorf("old stands in %s %d times; give a passage that stands there once", name, n)
	}
	if err := put(root, name, strings.Replace(text, in.Old, in.New, 1)); err != nil {
		return Result{}, err
	}
	return Say("edited %s", name)
}

// put replaces a file in one step, so that a crash leaves the old one or the new.
func put(root *os.Root, name, text string) error {
	if len(text) > maxFile {
		return fmt.Errorf("too large: %d bytes of at most %d", len(text), maxFile)
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("%s: %w", dir, plain(err))
		}
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", name)
	}
	draft := name + ".new"
	if err := root.WriteFile(draft, []byte(text), 0o600); err != nil {
		return fmt.Errorf("%s: %w", name, plain(err))
	}
	if err := root.Rename(draft, name); err != nil {
		return fmt.Errorf("%s: %w", name, plain(err))
	}
	return nil
}

func listFolder(_ context.Context, at Place, input json.RawMessage) (Result, error) {
	in, err := Read[struct{ Path string }](input)
	if err != nil {
		return Result{}, err
	}
	root, name, err := inside(at, in.Path)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, plain(err))
	}
	var lines []string
	for _, e := range entries {
		line := e.Name()
		if e.IsDir() {
			line += "/"
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	if len(lines) == 0 {
		return Say("the folder is empty")
	}
	return Say("%s", strings.Join(lines, "\n"))
}
