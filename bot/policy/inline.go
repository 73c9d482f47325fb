package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inlined are the commands that may stand inside a text [C15].
var inlined = []string{"help", "commands", "status", "whoami", "id"}

// Inline finds the commands that stand inside a text and the text without them.
// Only whole words count, each name once, and a text that is nothing but a
// command is none of this function's.
func Inline(text string) (names []string, rest string) {
	if !strings.Contains(text, "/") {
		return nil, text
	}
	var kept strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '/' && (i == 0 || isSpaceBefore(text[:i])) {
			end := i + 1
			for end < len(text) && 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z' {
				end++
			}
			name := strings.ToLower(text[i+1 : end])
			if slices.Contains(inlined, name) && (end == len(text) || isSpaceAfter(text[end:])) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
				if i = end; isSpaceBefore(kept.String()) && i < len(text) && text[i] == ' ' {
					i++ // the gap closes
				}
				continue
			}
		}
		kept.WriteByte(text[i])
		i++
	}
	if names == nil {
		return nil, text
	}
	rest = strings.TrimSpace(kept.String())
	if rest == "" {
		return nil, text
	}
	return names, rest
}

func isSpaceBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

func isSpaceAfter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

func letterBefore(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func letterAfter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
