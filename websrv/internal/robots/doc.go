// Package robots reads robots.txt by RFC 9309, with the extensions of Google's parser.
//
// [Parse] reads a file, [ForStatus] also says what an answer without a file means. A [File] answers for
// one product token by [File.Allowed], or gives its [Rules] when many addresses are to be asked about.
//
// Beyond the RFC, as in Google's parser: a missing colon and a few misspelt names are accepted, a rule for
// index.htm or index.html also covers its folder, and of a line only the first 16,664 bytes count. Crawl-delay, which
// neither knows, is read too.
//
// Files are hostile input: at most [MaxBytes] are read, nothing panics, and asking costs little more than the
// address is long, however many rules there are. A File and its Rules never change and are safe for concurrent use.
package robots
