package slacktest

import (
	"net/http"
	"slices"
	"time"
)

func (s *Server) authTest(args) (answer, string) {
	return answer{"url": s.URL + "/", "team": "Testers", "user": "standin", "team_id": Team, "user_id": BotUser, "bot_id": BotID}, ""
}

func (s *Server) info(in args) (answer, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	return answer{"channel": map[string]any{
		"id": r.ID, "is_im": r.Kind == "im", "is_mpim": r.Kind == "mpim", "is_channel": r.Kind == "channel", "is_private": r.Kind == "group",
		"is_member": r.has(BotUser), "is_archived": r.Archived,
	}}, ""
}

func (s *Server) members(in args) (answer, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	return answer{"members": r.Members}, ""
}

func (s *Server) openDM(in args) (answer, string) {
	for _, r := range s.rooms {
		if r.Kind == "im" && r.has(in["users"]) {
			return answer{"channel": map[string]any{"id": r.ID}}, ""
		}
	}
	return nil, "user_not_found"
}

func (s *Server) userInfo(in args) (answer, string) {
	p := s.people[in["user"]]
	if p == nil {
		return nil, "user_not_found"
	}
	return answer{"user": map[string]any{"id": p.ID, "name": p.Name, "profile": map[string]any{"display_name": p.Name}}}, ""
}

func (s *Server) groupUsers(in args) (answer, string) {
	users, ok := s.groups[in["usergroup"]]
	if !ok {
		return nil, "no_such_subteam"
	}
	return answer{"users": users}, ""
}

func (s *Server) reacted(in args) (*Message, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	m := r.message(in["timestamp"])
	if m == nil {
		return nil, "message_not_found"
	}
	return m, ""
}

func (s *Server) addReaction(in args) (answer, string) {
	m, code := s.reacted(in)
	if code != "" {
		return nil, code
	}
	if slices.Contains(m.Reactions[in["name"]], BotUser) {
		return nil, "already_reacted"
	}
	if m.Reactions == nil {
		m.Reactions = map[string][]string{}
	}
	m.Reactions[in["name"]] = append(m.Reactions[in["name"]], BotUser)
	return answer{}, ""
}

func (s *Server) removeReaction(in args) (answer, string) {
	m, code := s.reacted(in)
	if code != "" {
		return nil, code
	}
	if !slices.Contains(m.Reactions[in["name"]], BotUser) {
		return nil, "no_reaction"
	}
	delete(m.Reactions, in["name"])
	return answer{}, ""
}

func (s *Server) setStatus(in args) (answer, string) {
	r := s.rooms[in["channel_id"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	if in["thread_ts"] == "" || r.message(in["thread_ts"]) == nil {
		return nil, "invalid_thread_ts"
	}
	key := r.ID + "/" + in["thread_ts"]
	if s.status[key] = in["status"]; in["status"] == "" {
		delete(s.status, key)
	}
	return answer{}, ""
}

// openView uses up a trigger: single use, three seconds.
func (s *Server) openView(in args) (answer, string) {
	made, ok := s.triggers[in["trigger_id"]]
	delete(s.triggers, in["trigger_id"])
	switch {
	case !ok:
		return nil, "exchanged_trigger_id"
	case s.now().Sub(made) > 3*time.Second:
		return nil, "expired_trigger_id"
	}
	return answer{"view": map[string]any{"id": "V0"}}, ""
}

// serveFile gives a file to whoever has the token; others, and files that say
// so, are sent to the sign-in page as Slack does it.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	s.mu.Unlock()
	switch {
	case f == nil:
		http.NotFound(w, r)
	case f.SignIn || r.Header.Get("Authorization") != "Bearer "+BotToken:
		http.Redirect(w, r, "/sign-in?redir=/files/"+f.ID, http.StatusFound)
	default:
		w.Header().Set("Content-Type", f.Type)
		_, _ = w.Write(f.Data)
	}
}
