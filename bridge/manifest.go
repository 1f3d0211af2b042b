package bridge

// sectionTag opens and closes the data part of the prompt section.
const sectionTag = "aster_mcp"
