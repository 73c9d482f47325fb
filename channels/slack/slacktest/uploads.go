package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// upload is a file on its way in: announced, then sent, then put into a
// conversation. Three steps, as files.upload of old is gone [SL26].
type upload struct {
	name string
	size int
	data []byte
	sent bool
}

// maxUpload bounds what one upload may carry, in bytes.
const maxUpload = 64 << 20

// uploadURL is files.getUploadURLExternal: a place for a file of this size.
func (s *Server) uploadURL(in args) (answer, string) {
	size, err := strconv.Atoi(in["length"])
	if err != nil || size <= 0 || size > maxUpload || in["filename"] == "" {
		return nil, "invalid_arguments"
	}
	id := s.serialLocked("F")
	s.uploads[id] = &upload{name: in["filename"], size: size}
	return answer{"upload_url": s.URL + "/upload/" + id, "file_id": id}, ""
}

// serveUpload takes the file itself, as a raw body or as the first part of a form.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if parts, err := r.MultipartReader(); err == nil {
		part, err := parts.NextPart()
		if err != nil {
			http.Error(w, "no file in the form", http.StatusBadRequest)
			return
		}
		body = part
	}
	data, err := io.ReadAll(io.LimitReader(body, maxUpload))
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[r.PathValue("id")]
	if err != nil || u == nil || u.sent || len(data) != u.size {
		http.Error(w, "not what was announced", http.StatusBadRequest)
		return
	}
	u.data, u.sent = data, true
	_, _ = io.WriteString(w, "OK - "+strconv.Itoa(len(data)))
}

// completeUpload is files.completeUploadExternal: the files become a message of
// the bot's where a conversation is named.
func (s *Server) completeUpload(in args) (answer, string) {
	var named []struct{ ID, Title string }
	if json.Unmarshal([]byte(in["files"]), &named) != nil || len(named) == 0 {
		return nil, "invalid_arguments"
	}
	for _, n := range named {
		if u := s.uploads[n.ID]; u == nil || !u.sent {
			return nil, "file_not_found"
		}
	}
	var room *Room
	if in["channel_id"] != "" {
		r, code := s.place(args{"channel": in["channel_id"], "thread_ts": in["thread_ts"]})
		if code != "" {
			return nil, code
		}
		room = r
	}
	var files []map[string]any
	for _, n := range named {
		u := s.uploads[n.ID]
		delete(s.uploads, n.ID)
		s.files[n.ID] = &File{ID: n.ID, Name: u.name, Type: "application/octet-stream", Data: u.data}
		wire := s.fileLocked(n.ID)
		if wire["title"] = n.Title; n.Title == "" {
			wire["title"] = u.name
		}
		files = append(files, wire)
	}
	if room != nil {
		m := &Message{
			Type: "message", SubType: "file_share", User: BotUser, Bot: BotID, App: App, Thread: in["thread_ts"],
			Text: in["initial_comment"], TS: s.tsLocked(), Files: files,
		}
		room.messages = append(room.messages, m)
		s.tellLocked(room, m, nil)
	}
	return answer{"files": files}, ""
}

// fileLocked writes a file as messages carry it.
func (s *Server) fileLocked(id string) map[string]any {
	f := s.files[id]
	return map[string]any{
		"id": f.ID, "name": f.Name, "mimetype": f.Type, "size": len(f.Data),
		"url_private": s.URL + "/files/" + f.ID, "url_private_download": s.URL + "/files/" + f.ID,
	}
}

// fileInfo is files.info: the file, and the messages that show it.
func (s *Server) fileInfo(in args) (answer, string) {
	if s.files[in["file"]] == nil {
		return nil, "file_not_found"
	}
	wire := s.fileLocked(in["file"])
	public, private := map[string]any{}, map[string]any{}
	for _, r := range s.rooms {
		for _, m := range r.messages {
			for _, f := range m.Files {
				if f["id"] != in["file"] {
					continue
				}
				in := private
				if r.Kind == "channel" {
					in = public
				}
				in[r.ID] = []any{map[string]any{"ts": m.TS, "thread_ts": m.Thread}}
			}
		}
	}
	wire["shares"] = map[string]any{"public": public, "private": private}
	return answer{"file": wire}, ""
}

// FilesIn gives what the bot's files in a conversation are, as "name: content",
// in the order they were posted.
func (s *Server) FilesIn(room string) (all []string) {
	for _, m := range s.Posts(room) {
		for _, f := range m.Files {
			s.mu.Lock()
			id, _ := f["id"].(string)
			if file := s.files[id]; file != nil {
				all = append(all, file.Name+": "+string(file.Data))
			}
			s.mu.Unlock()
		}
	}
	return all
}
