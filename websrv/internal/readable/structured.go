package readable

// structured is what the page's JSON-LD says.
type structured struct {
	site, author, headline, description, image string
	published, modified                        string
	types                                      typeSet
	body                                       string            // the longest articleBody, description or text
	facts                                      map[string]string // product:price and the like
}

// typeSet says which kinds of things the data is about.
type typeSet uint16

// add puts the facts among the metadata, as far as there is room.
func (s *structured) add(to map[string]string) {
	for _, k := range sortedKeys(s.facts) {
		if _, ok := to[k]; !ok && len(to) < MaxMetadata {
			to[k] = s.facts[k]
		}
	}
}
