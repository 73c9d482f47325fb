package operator

// cookieName is the cookie of a person who has logged in.
const cookieName = "standin_session"
