package provider

import (
	"maps"
	"slices"
)

// KnownIDs gives the ids of all providers that Known knows, sorted.
func KnownIDs() []string { return slices.Sorted(maps.Keys(vendors)) }
