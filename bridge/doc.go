// Package bridge shapes a session's catalogue and routes the one aster_mcp tool.
package bridge
