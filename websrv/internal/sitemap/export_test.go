package sitemap

// UnpackAtMost is Unpack with another bound, so that tests need no file of 50 MB.
var UnpackAtMost = unpack
