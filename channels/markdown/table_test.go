package markdown

import "testing"

// Tables become something that every platform shows [D13].
func TestTables(t *testing.T) {
	const table = "before\n\n| Model | Price |\n|---|--:|\n| a/one | 3 |\n| 日本 | `12` |\n\nafter\n"
	for _, c := range []struct {
		name string
		mode TableMode
		text string
		want string
	}{
		{"off leaves them", TablesOff, table, table},
		{"code sets columns", TablesCode, table, "before\n\n```\nModel  Price\n─────  ─────\na/one  3\n日本   `12`\n```\n\nafter\n"},
		{"bullets names the columns", TablesBullets, table, "before\n\n- **a/one**, Price: 3\n- **日本**, Price: `12`\n\nafter\n"},
		{"a table in a code block is code", TablesCode, "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n"},
		{"a bar is no table", TablesCode, "a | b\n", "a | b\n"},
		{"a cell may hold a bar", TablesCode, "| a | b |\n|---|---|\n| x \\| y | 2 |", "```\na      b\n─────  ─\nx | y  2\n```"},
		{"a short row is one", TablesBullets, "| a | b |\n|---|---|\n| 1 |\n| 2 | 3 |", "- **1**\n- **2**, b: 3"},
		{"two tables", TablesCode, "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |", "```\na\n─\n1\n```\n\n```\nb\n─\n2\n```"},
		{"a header alone", TablesBullets, "| a | b |\n|---|---|", "a, b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Tables(c.text, c.mode); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Whatever the text, rewriting its tables does not break, and a text without any
// stays what it is.
func FuzzTables(f *testing.F) {
	f.Add("| a | b |\n|---|---|\n| 1 | 2 |")
	f.Add("> | a |\n> |---|\n|\n| |\n|-|")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		for _, mode := range []TableMode{TablesCode, TablesBullets} {
			_ = Tables(text, mode)
		}
		if Tables(text, TablesOff) != text {
			t.Error("off changed the text")
		}
	})
}
