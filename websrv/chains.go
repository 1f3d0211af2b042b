package websrv

// chains are the providers for each kind of work, in the order of the options. A provider
// that needs a key and has none is left out.
func chains(n *network, o *Options) map[Op][]Provider {
	made := map[string]Provider{}
	result := map[Op][]Provider{}
	for _, op := range []Op{OpSearch, OpExtract, OpCrawl, OpSitemap, OpScreenshot} {
		for _, id := range o.order(op) {
			key := id
			if id == idDuckDuckGo || id == idLocal { // one name, two providers
				key += " " + string(op)
			}
			p, ok := made[key]
			if !ok {
				p = makeProvider(op, id, n, o)
				made[key] = p
			}
			if p != nil && does(p, op) && (p.Local() || !o.LocalOnly) {
				result[op] = append(result[op], p)
			}
		}
	}
	return result
}

// makeProvider makes the provider of an ID, nil if it has no key.
func makeProvider(op Op, id string, n *network, o *Options) Provider {
	keyed := func(key string, p Provider) Provider {
		if key == "" {
			return nil
		}
		return p
	}
	k := &o.Keys
	switch id {
	case idExa:
		return keyed(k.Exa, newExa(n, o))
	case idPerplexity:
		return keyed(k.Perplexity, newPerplexity(n, o))
	case idContextDev:
		return keyed(k.ContextDev, newContextDev(n, o))
	case idFirecrawl:
		return keyed(k.Firecrawl, newFirecrawl(n, o))
	case idBrowserbase:
		return keyed(k.Browserbase, newBrowserbase(n, o))
	case idCloudflare:
		return keyed(k.CloudflareToken, newCloudflare(n, o))
	case idFirecrawlKeyless:
		return newFirecrawlKeyless(n, o)
	case idJina:
		return newJina(n, o)
	case idDuckDuckGo:
		if op == OpExtract {
			return newBrowserLikeFetcher(n, o.usesChromium())
		}
		return newDuckDuckGo(n, o)
	case idHTTP:
		return newPlainFetcher(n, o.usesChromium())
	case idLocal:
		if op == OpSitemap {
			return newSiteMapper(n)
		}
		return newSiteCrawler(n)
	case idChromium:
		if !o.usesChromium() {
			return nil
		}
		return &chromium{n}
	}
	return nil
}
