package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R12, R63: doctor takes over the jobs of an older store with their record, once;
// without --fix it only says so, and one that cannot be kept keeps no other back.
func TestDoctorTakesOverOlderJobs(t *testing.T) {
	state, from := filepath.Join(t.TempDir(), "state"), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(state, "config.yaml", "agents: {defaults: {model: openai/gpt-5.5}}\nmodels: {providers: {openai: {apiKey: k1}}}\n")
	put(from, "openclaw.json", `{cron: {webhook: "https://example.org/hook"}, agents: {defaults: {model: "openai/gpt-5.5"}}}`)
	put(from, "cron/jobs.json", `{"version": 1, "jobs": [
		{"id": "11111111-aaaa", "name": "Brief", "enabled": true, "createdAtMs": 1750000000000, "schedule": {"cron": "0 9 * * *", "tz": "UTC"}, "payload": {"kind": "agentTurn", "message": "x", "deliver": false}, "state": {"lastStatus": "ok"}},
		{"id": "22222222-bbbb", "name": "Told", "schedule": {"kind": "every", "everyMs": 3600000}, "payload": {"kind": "agentTurn", "message": "x"}, "notify": true},
		{"id": "33333333-cccc", "name": "Strange", "schedule": {"kind": "every", "everyMs": 3600000}, "payload": {"kind": "agentTurn", "message": "x", "model": "nobody/x"}},
		{"id": "../../etc", "name": "Sly", "schedule": {"kind": "every", "everyMs": 3600000}, "payload": {"kind": "agentTurn", "message": "x"}},
		{"id": "44444444-dddd", "name": "Gone", "schedule": {"kind": "at", "at": "2020-01-01T00:00:00Z"}, "payload": {"kind": "agentTurn", "message": "x"}}]}`)
	put(from, "cron/runs/11111111-aaaa.jsonl", `{"ts": 1750000001000, "action": "finished", "status": "ok", "summary": "all quiet", "model": "gpt-5.5", "provider": "openai"}`+"\n")
	doctor := func(args ...string) string {
		t.Helper()
		_, out, errs := typed(t, append([]string{"doctor", "--state", state}, args...)...)
		return out + errs
	}
	expect := func(what, out string, says ...string) {
		t.Helper()
		for _, s := range says {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), s) {
				t.Errorf("%s does not say %q:\n%s", what, s, out)
			}
		}
	}
	list := func() string {
		_, out, errs := typed(t, "cron", "list", "--all", "--state", state)
		return out + errs
	}
	expect("a look", doctor("--import", from), "holds 2 jobs that standin does not run yet", "standin doctor --fix --import "+from, `the job "Strange" cannot be taken over`, "nobody", `the job "Sly" cannot be taken over: id "../../etc" holds a path separator`, `"Gone" is left there`)
	if _, err := os.Stat(filepath.Join(state, "standin.sqlite")); err == nil {
		t.Error("a look has made a database")
	}
	expect("the take-over", doctor("--import", from, "--fix"), "2 jobs were taken over, with 1 line of their record", "notify is now delivery.completionDestination", "as long as OpenClaw runs, it runs these jobs too")
	expect("the list", list(), "Brief", "at 09:00 every day (UTC)", "Told")
	_, shown, _ := typed(t, "cron", "show", "Told", "--state", state)
	expect("the job", shown, "each end is told to https://example.org")
	_, runs, _ := typed(t, "cron", "runs", "--id", "Brief", "--state", state)
	expect("the record", runs, "openai/gpt-5.5")
	expect("another look", doctor("--import", from), "2 jobs were taken over already")
	if strings.Contains(list(), "Strange") || strings.Contains(list(), "Gone") {
		t.Error(list())
	}

	// In the state folder itself the file is put away, so that a job that is
	// removed does not come back.
	put(state, "cron/jobs.json", `[{"id": "55555555-eeee", "name": "Own", "schedule": "0 9 * * *", "message": "x"}]`)
	expect("our own", doctor(), "holds 1 job that standin does not run yet", "standin doctor --fix takes over")
	expect("our own", doctor("--fix"), "1 job was taken over")
	typed(t, "cron", "rm", "Own", "--state", state)
	if out := doctor("--fix"); strings.Contains(out, "jobs.json") || strings.Contains(list(), "Own") {
		t.Errorf("it is back:\n%s\n%s", out, list())
	}
	put(state, "cron/jobs.json", "half a fi")
	expect("a broken one", doctor("--fix"), "it is no list of jobs", "nothing of it was taken over")
	if _, err := os.Stat(filepath.Join(state, "cron", "jobs.json")); err != nil {
		t.Error("a store that cannot be read was put away: ", err)
	}
}
