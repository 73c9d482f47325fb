package operator

import (
	"mime"
	"net/http"
)

// me tells who is asking.
func (s *Server) me(c *call) (any, error) {
	return Me{LoggedIn: c.who.in, Needed: s.door.wanted, Name: c.who.name, Version: s.Config().Version}, nil
}

// login takes the token from JSON or from the page's form. A form is answered
// with the page again: it works before, and without, any script.
func (s *Server) login(c *call) {
	form := false
	var in Login
	if kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		form = true
		if err := c.r.ParseForm(); err != nil {
			s.fail(c.w, c.r, err)
			return
		}
		in = Login{Token: c.r.PostForm.Get("token"), Name: c.r.PostForm.Get("name")}
	} else {
		var err error
		if in, err = read[Login](c); err != nil {
			s.fail(c.w, c.r, err)
			return
		}
	}
	if s.door.wanted {
		if refused := s.door.check(in.Token, remote(c.r), c.now); refused != nil {
			s.Log.Warn("an operator's login was refused", "from", remote(c.r).String(), "why", refused.code)
			if form {
				http.Redirect(c.w, c.r, "/?login="+refused.code, http.StatusSeeOther)
				return
			}
			refused.answer(c.w)
			return
		}
	}
	s.door.leave(c.r)
	http.SetCookie(c.w, s.door.enter(in.Name, c.r.TLS != nil || c.r.Header.Get("X-Forwarded-Proto") == "https", c.now))
	s.Log.Info("an operator logged in", "name", clean(in.Name), "from", remote(c.r).String())
	if form {
		http.Redirect(c.w, c.r, "/", http.StatusSeeOther)
		return
	}
	answer(c.w, http.StatusOK, Me{LoggedIn: true, Needed: s.door.wanted, Name: clean(in.Name), Version: s.Config().Version})
}

// logout forgets the cookie, here and there.
func (s *Server) logout(c *call) (any, error) {
	s.door.leave(c.r)
	http.SetCookie(c.w, sessionCookie("", -1, c.r.TLS != nil))
	return Me{LoggedIn: !s.door.wanted, Needed: s.door.wanted, Version: s.Config().Version}, nil
}
