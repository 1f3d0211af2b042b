package readable

// Kinds of pages, as Document.Kind names them.
const (
	KindArticle       = "article"
	KindForum         = "forum"
	KindProduct       = "product"
	KindCollection    = "collection" // goods to choose from
	KindListing       = "listing"    // other things to choose from
	KindDocumentation = "documentation"
	KindPage          = "page"
)

// kind guesses what the page is, from what it says of itself first, then from its address, then
// from what it is made of. v may be nil.
func (v *view) kind(m *meta, at shape) string {
	og := ogType(m.first("og:type"))
	t := m.data.types
	switch {
	case t&typeThread != 0 && t&(typeProduct|typeFAQ) == 0:
		return KindForum
	case (t&typeProduct != 0 || og == 2) && t&typeList == 0 && at.kind&addressList == 0:
		return KindProduct
	case at.kind&addressThread != 0 && t&typeArticle == 0:
		return KindForum
	case at.kind&addressDocs != 0 && t&typeProduct == 0 && (v == nil || v.made().code > 0):
		return KindDocumentation
	case t&typeProduct != 0 || t&typeOffer != 0 && at.kind&addressList != 0:
		return KindCollection
	case t&(typeArticle|typeRecipe|typeHowTo) != 0 || og == 1:
		return KindArticle
	case v == nil:
		return KindPage
	}
	return v.shapeKind(at)
}

// made is what the kind of an unmarked page is guessed from.
type made struct {
	prose, thread, all int32
	money, code        int32
	repeats            int32 // characters in the largest list of like things
}

func (v *view) made() made {
	var m made
	p := v.p
	m.all = p.boxes[0].chars
	for i := range p.blocks {
		b, t := &p.blocks[i], &v.stats[i]
		if b.linkChars*4 < b.chars && t.stops > 0 && b.chars > 80 {
			m.prose += b.chars
		}
		addIf(near(&v.dist[b.box], hintThread), &m.thread, b.chars)
		m.money += t.money
		count(tagOf(p.boxes[b.box].atom) == tagPre, &m.code)
	}
	for i := range p.boxes {
		if b := &p.boxes[i]; b.nth == 1 && b.same >= 6 {
			m.repeats = max(m.repeats, b.same*b.chars)
		}
	}
	return m
}

func (v *view) shapeKind(at shape) string {
	const fewPrices = 6
	switch m := v.made(); {
	case m.all == 0:
		return KindPage
	case ratio(m.thread, m.all) > 0.4:
		return KindForum
	case m.code > 3:
		return KindDocumentation
	case m.money >= fewPrices && (at.kind&addressList != 0 || ratio(m.repeats, m.all) > 0.3):
		return KindCollection
	case at.kind&addressProduct != 0 && m.money > 0:
		return KindProduct
	case at.kind&addressArticle != 0 && ratio(m.prose, m.all) > 0.4:
		return KindArticle
	case at.kind&addressList != 0 || ratio(m.repeats, m.all) > 0.5:
		return KindListing
	case ratio(m.prose, m.all) > 0.7:
		return KindArticle
	}
	return KindPage
}
