// Package ui serves a page on this machine that shows a session: its servers and tools,
// what the model is given, the calls of all the user's aster processes, and the policy.
//
// [Serve] answers on a loopback listener. Whoever shows the token gets a cookie; requests
// under another Host, of pages of other origins or without the cookie are refused. The
// page holds no script but its own file, and sets strangers' text as text only. Clients,
// rows and the length of texts are bounded. The page changes nothing and calls nothing.
package ui
