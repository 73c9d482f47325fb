package cronjobs

import (
	"strings"
	"testing"
)

// R12: older spellings are brought to today's form, and a field that means
// nothing is refused by its name.
func TestOlderSpellings(t *testing.T) {
	j, notes, err := Decode([]byte(`{"name": "old", "schedule": {"cron": "0 9 * * *", "timezone": "UTC"}, "payload": {"kind": "agent_turn", "message": "x",
		"deliver": true, "channel": "slack", "to": "channel:C1"}, "failureAlert": false}`))
	if err != nil || j.Schedule.Kind != KindCron || j.Schedule.Expr != "0 9 * * *" || j.Schedule.Zone != "UTC" || j.Payload.Kind != AgentTurn ||
		j.Delivery == nil || j.Delivery.Mode != Announce || j.Delivery.Channel != "slack" || j.Delivery.To != "channel:C1" || j.Target != Isolated || !j.FailureAlert.Off || len(notes) == 0 {
		t.Errorf("%+v, %v, %v", j, notes, err)
	}
	j, _, err = Decode([]byte(`{"name": "old", "schedule": {"atMs": 1790000000000}, "payload": {"text": "look"}}`))
	if err != nil || j.Schedule.Kind != KindAt || j.Schedule.At != "1790000000000" || j.Payload.Kind != SystemEvent || j.Target != Main || j.Delivery != nil {
		t.Errorf("%+v, %v", j, err)
	}
	j, _, err = Decode([]byte(`{"name": "strict", "schedule": "0 9 * * *", "payload": {"kind": "agentTurn", "message": "x", "fallbacks": []}}`))
	if err != nil || j.Payload.Fallbacks == nil || len(*j.Payload.Fallbacks) != 0 {
		t.Errorf("an empty list is not nothing: %+v, %v", j.Payload, err)
	}
	for text, want := range map[string]string{
		`{"name": "x", "shedule": {}}`:                   "shedule",
		`{"name": 5}`:                                    "name",
		`{"name": "x", "payload": {"fallbacks": "a/b"}}`: "fallbacks",
		`{"name": "x", "failureAlert": true}`:            "failureAlert",
		`[]`:                                             "no JSON object",
		`{"name": "x", "delivery": {"chanel": "slack"}}`: "chanel",
	} {
		if _, _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
