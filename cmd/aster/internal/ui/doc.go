// Package ui serves a page on this machine that shows a session, its servers and tools,
// what the model is given, the calls of all the user's aster processes and the policy, and
// on which the user answers the questions of these processes.
//
// [Serve] answers on a loopback listener. Whoever shows the token gets a cookie; requests
// under another Host, of pages of other origins or without the cookie are refused. The
// page holds no script but its own file, and sets strangers' text as text only. Clients,
// rows, questions and the length of texts are bounded. The page calls nothing, and changes
// nothing but the fate of a question.
//
// [Asker] is the other side of a question: the approver of a process that serves. Each
// question has a connection of its own, which carries one line each way; it ends when the
// process needs no answer any more, because another approver was quicker or the call has
// ended. What follows from an answer is for the guard that asked.
package ui
