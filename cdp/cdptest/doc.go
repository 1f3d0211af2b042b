// Package cdptest starts Chromium and fake DevTools endpoints for tests, in the
// manner of net/http/httptest.
//
// [New] starts a headless browser with a fresh profile; the test plays the user
// through [Page], over a DevTools connection of its own that is separate from the
// one under test. [Serve] serves testdata/pages and any inline page, under several
// host names, so that cross-origin and cross-site frames can be built.
//
// A test that needs a browser is skipped where none is installed, and fails
// instead where the environment variable ASTER_TEST_BROWSER is "required".
package cdptest
