package discord

import (
	"context"
	"fmt"
	"net/http"
)

// Application asks Discord for the id of the bot's application, for Invite. It
// connects nothing. The error says what to mend and holds no token.
func Application(ctx context.Context, o Options) (id string, err error) {
	c, err := New(o)
	if err != nil {
		return "", err
	}
	var app struct{ ID string }
	if err := c.api.do(ctx, call{method: http.MethodGet, path: "applications/@me"}, &app); err != nil {
		if statusOf(err) == http.StatusUnauthorized {
			return "", &Fatal{Code: http.StatusUnauthorized, Why: closings[4004].why, Mend: closings[4004].mend}
		}
		return "", fmt.Errorf("discord does not tell the application's id: %w", err)
	}
	return app.ID, nil
}
