package openclaw

import "os"

// CronWebhook gives cron.webhook of the openclaw.json in a folder: the URL that
// jobs with notify were told to in older versions. "": there is none, or the
// config cannot be read, which its own reading tells of.
func CronWebhook(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	i := &including{root: root, dir: dir}
	v, err := i.load("openclaw.json", nil)
	if err != nil {
		return ""
	}
	if url := v.get("cron", "webhook"); url != nil && url.form == text {
		return url.text
	}
	return ""
}
