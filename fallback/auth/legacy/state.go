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
			var ids []string
			if name = strings.ToLower(strings.TrimSpace(name)); name == "" || json.Unmarshal(list, &ids) != nil || ids == nil {
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
