package legacy

import (
	"encoding/json"
	"strings"
)

// readState reads order, lastGood and usageStats. They are hints, not secrets:
// a part that has not the form it should have is passed over.
func (c *Contents) readState(root object) {
	if v, ok := root.get("order"); ok {
		var order map[string]json.RawMessage
		_ = json.Unmarshal(v, &order)
		for name, list := range order {
			ids := words(list)
			if name = strings.ToLower(strings.TrimSpace(name)); name == "" || ids == nil {
				continue
			}
			if c.Order == nil {
				c.Order = map[string][]string{}
			}
			c.Order[name] = ids
		}
	}
	if v, ok := root.get("lastGood"); ok {
		_ = json.Unmarshal(v, &c.LastGood)
	}
	if v, ok := root.get("usageStats"); ok {
		var all map[string]json.RawMessage
		_ = json.Unmarshal(v, &all)
		for id, stats := range all {
			if kindOf(stats) != '{' {
				continue
			}
			if c.Usage == nil {
				c.Usage = map[string]json.RawMessage{}
			}
			c.Usage[id] = stats
		}
	}
}

// words gives the texts of a list and passes over what is none; nil for no list,
// and for one of nothing but such.
func words(list json.RawMessage) []string {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil || all == nil {
		return nil
	}
	texts := make([]string, 0, len(all))
	for _, one := range all {
		if s, ok := text(one); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 && len(all) > 0 {
		return nil
	}
	return texts
}
