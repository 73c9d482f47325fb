package cronjobs

import (
	"strings"
	"testing"
	"time"
)

// R12, R63: what an older store holds, job by job. One that cannot be kept is
// told by its name and keeps no other back.
func TestReadOlder(t *testing.T) {
	all, err := ReadOlder([]byte(`{"version": 1, "jobs": [
		{"id": "a", "name": "Brief", "enabled": true, "createdAtMs": 1750000000000, "updatedAtMs": 1750000000001, "schedule": {"kind": "every", "everyMs": 600000},
		 "sessionTarget": "isolated", "wakeMode": "now", "payload": {"kind": "agentTurn", "message": "x", "provider": "slack", "to": "channel:C1", "allowUnsafeExternalContent": false},
		 "notify": true, "state": {"nextRunAtMs": 1, "lastRunAtMs": 1750000600000, "lastStatus": "error", "lastError": "no", "consecutiveErrors": 2, "lastFailureNotificationDeliveryStatus": "x"}},
		{"jobId": "b", "name": "Door", "schedule": {"cron": "0 9 * * *"}, "payload": {"kind": "systemEvent", "text": "look"}, "notify": true},
		{"id": "c", "name": "Odd", "schedule": {"kind": "cron", "expr": "0 9 * * *"}, "payload": {"kind": "command", "argv": ["ls"]}},
		{"id": "d", "name": "Gone", "schedule": {"kind": "at", "atMs": 1750000000000}, "payload": {"message": "x"}, "isolation": {"postToMain": true}},
		7]}`), "https://example.org/hook")
	if err != nil || len(all) != 5 {
		t.Fatalf("%d jobs, %v", len(all), err)
	}
	a, b := all[0].Job, all[1].Job
	if all[0].Err != nil || a.Delivery.Mode != Announce || a.Delivery.Channel != "slack" || a.Delivery.To != "channel:C1" || a.Delivery.Completion == nil || a.Delivery.Completion.To != "https://example.org/hook" ||
		a.Schedule.AnchorMs != 1750000000000 || a.State != (State{LastRun: 1750000600000, LastStatus: Failed, LastError: "no", Errors: 2}) {
		t.Errorf("%+v, %+v, %v", a, a.Delivery, all[0].Err)
	}
	if all[1].Err != nil || b.ID != "b" || b.Target != Main || b.Delivery.Mode != Webhook || !strings.Contains(strings.Join(all[1].Notes, "; "), "schedule.cron is now schedule.expr") {
		t.Errorf("%+v, %v", all[1], all[1].Err)
	}
	if all[2].Err == nil || all[2].Name != "Odd" || !strings.Contains(all[2].Err.Error(), "run no programs") {
		t.Errorf("%+v", all[2])
	}
	if all[3].Err != nil || !all[3].Job.Passed(time.Now()) || a.Passed(time.Now()) {
		t.Errorf("%+v", all[3])
	}
	if all[4].Err == nil {
		t.Errorf("%+v", all[4])
	}
	if all, _ := ReadOlder([]byte(`[{"id": "a", "name": "n", "schedule": {"everyMs": 5000}, "message": "x", "notify": true}]`), ""); len(all) != 1 || all[0].Err != nil || all[0].Job.Delivery != nil ||
		!strings.Contains(strings.Join(all[0].Notes, "; "), "notify is left out") {
		t.Errorf("%+v", all)
	}
	for _, text := range []string{"", "x", `{"jobs": 5}`, "[1"} {
		if _, err := ReadOlder([]byte(text), ""); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestReadOlderRuns(t *testing.T) {
	runs, err := ReadOlderRuns(strings.NewReader(`{"ts": 3, "action": "finished", "status": "ok"}
{"ts": 1750000001000, "jobId": "a", "action": "finished", "status": "ok", "summary": "fine", "deliveryStatus": "delivered", "runAtMs": 1750000000000, "durationMs": 1000, "model": "gpt-5.5", "provider": "openai", "usage": {"input_tokens": 10, "output_tokens": 2}}
half a li
{"ts": 1750000009000, "action": "started"}
{"ts": 1750000007000, "action": "finished", "status": "error", "error": "no", "deliveryStatus": "unknown"}
`), Job{ID: "a", Name: "Brief"}, 2)
	if err != nil || len(runs) != 2 || runs[0].Used != "openai/gpt-5.5" || runs[0].Tokens.Input != 10 || runs[0].Delivery.Status != Delivered || runs[0].Started != 1750000000000 ||
		runs[1].Status != Failed || runs[1].Started != 1750000007000 || runs[1].Delivery.Status != NotRequested || runs[0].ID == runs[1].ID {
		t.Errorf("%+v, %v", runs, err)
	}
}
