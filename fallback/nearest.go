package fallback

import (
	"cmp"
	"slices"
	"strings"
)

// nearMax is how many guesses a person is shown.
const nearMax = 3

// nearLength bounds how much of a long word is compared, in characters.
const nearLength = 64

// Nearest gives the names that a slip of the pen may have meant, closest first
// and at most three: one edit in a short word, one in three letters otherwise.
func Nearest(word string, among []string) []string {
	type guess struct {
		name string
		far  int
	}
	var guesses []guess
	for _, name := range among {
		if name == "" {
			continue
		}
		far := distance(strings.ToLower(word), strings.ToLower(name))
		if far <= max(1, min(len(word), len(name))/3) && far < len(name) {
			guesses = append(guesses, guess{name, far})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, g := range guesses[:min(len(guesses), nearMax)] {
		names = append(names, g.name)
	}
	return names
}

// distance counts the letters to add, drop, replace or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	x, y = x[:min(len(x), nearLength)], y[:min(len(y), nearLength)]
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
