package config

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"standin/fallback"
	"standin/fallback/provider"
)

// Fault is one thing that is wrong, or with Warning merely doubtful, in a
// config. It never holds a secret: text of the file is masked, and a value that
// came from the environment is shown as it was written, such as ${NAME} [I12].
type Fault struct {
	File      string // as the person named it; "environment" for a variable
	Line, Col int    // 1-based, Col in characters; 0 when the whole file is meant
	Path      string // such as agents.list[0].model
	Msg       string // what is wrong
	Mend      string // what to do, "" when Msg says it
	Warning   bool

	source string // the line of the file, masked
	masked bool   // source is not as in the file, so Col may point beside it
}

// String gives the fault in one line, in the form that editors can follow.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Col)
	}
	b.WriteString(": ")
	if f.Warning {
		b.WriteString("warning: ")
	}
	if f.Path != "" {
		b.WriteString(provider.Redact(f.Path) + ": ")
	}
	b.WriteString(f.Msg)
	if f.Mend != "" {
		b.WriteString("; " + f.Mend)
	}
	return b.String()
}

// maxExcerpt bounds the shown part of a source line, in characters.
const maxExcerpt = 120

// excerpt gives the source line with a mark under the column, "" without one.
func (f Fault) excerpt() string {
	if f.source == "" || f.Line == 0 {
		return ""
	}
	if f.masked {
		return fmt.Sprintf("%5d | %s\n", f.Line, f.source)
	}
	line := []rune(strings.ReplaceAll(f.source, "\t", " "))
	if f.Col > maxExcerpt || f.Col > len(line)+1 {
		return "" // the mark would point at nothing
	}
	if len(line) > maxExcerpt {
		line = append(line[:maxExcerpt], '…')
	}
	return fmt.Sprintf("%5d | %s\n      | %s^\n", f.Line, string(line), strings.Repeat(" ", max(f.Col-1, 0)))
}

// In gives the fault with the line of the file that it is about.
func (f Fault) In(lines []string) Fault {
	if f.Line >= 1 && f.Line <= len(lines) {
		line := strings.TrimRight(strings.TrimPrefix(lines[f.Line-1], "\ufeff"), "\r")
		f.source = mask(line)
		f.masked = f.source != line
	}
	return f
}

// PrintFaults writes every fault with its source line.
func PrintFaults(w io.Writer, faults []Fault) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s\n%s", f, f.excerpt())
	}
}

// Broken tells whether one of the faults is more than a warning.
func Broken(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.Warning })
}

// SortFaults puts faults in the order of the file, without repetitions: an
// anchor that is used twice is wrong once.
func SortFaults(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.CompactFunc(faults, func(a, b Fault) bool {
		return a.File == b.File && a.Line == b.Line && a.Col == b.Col && a.Msg == b.Msg
	})
}

var (
	secretKey = regexp.MustCompile(`(?i)(["']?\b[a-z_-]*(?:key|token|secret|password|passphrase(?:env)?|authorization|cookie|[_-]auth|[_-]pass)\b["']?\s*:\s*)("[^"]*"?|'[^']*'?|[^\s#,{}][^#,}]*)`)
	headerMap = regexp.MustCompile(`(?i)(["']?\bheaders["']?\s*:\s*)\{[^}]*\}?`)
	variable  = regexp.MustCompile(`\$?\$\{([A-Z_][A-Z0-9_]*)\}`)
)

// mask hides what may be a secret in a line of a config: the value of a key
// whose name says so, headers whose names say nothing, and whatever looks like
// a vendor's key.
func mask(line string) string {
	line = headerMap.ReplaceAllString(line, "$1{[secret]}")
	line = secretKey.ReplaceAllStringFunc(line, func(m string) string {
		parts := secretKey.FindStringSubmatch(m)
		if variable.MatchString(parts[2]) && variable.ReplaceAllString(strings.Trim(parts[2], ` "'`), "") == "" {
			return m // only a reference, which helps to see
		}
		return parts[1] + "[secret]"
	})
	return provider.Redact(line)
}

// nearest gives the word of known that is closest to s, "" when none is close
// enough to be what was meant.
func nearest(s string, known []string) string {
	if near := fallback.Nearest(s, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

// DidYouMean gives the mend that names the nearest word, or lists all words
// when there are few and none is near.
func DidYouMean(s string, known []string) string {
	if n := nearest(s, known); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(known) > 0 && len(known) <= 12 {
		return "known: " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
	}
	return ""
}
