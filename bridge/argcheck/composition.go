package argcheck

// checkComposition refuses a schema whose parts refer to each other in a
// circle without a value to go down into, or that multiplies beyond
// MaxComposition.
func checkComposition(root *node) error {
	c := composition{cost: map[*node]int{}}
	pending, seen := []*node{root}, map[*node]bool{root: true}
	for len(pending) > 0 {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if err := c.visit(n); err != nil {
			return err
		}
		n.children(func(sub *node) {
			if !seen[sub] {
				seen[sub] = true
				pending = append(pending, sub)
			}
		})
	}
	return nil
}

type composition struct {
	// cost of the finished nodes; 0 while a node is being visited.
	cost map[*node]int
}

func (c *composition) visit(n *node) error {
	if cost, seen := c.cost[n]; seen {
		if cost == 0 {
			return unsupported("its schema refers to itself in a circle")
		}
		return nil
	}
	c.cost[n] = 0
	total := 1
	var err error
	n.inPlace(func(sub *node) {
		if err == nil {
			err = c.visit(sub)
		}
		total = min(total+c.cost[sub], MaxComposition+1)
	})
	if err == nil && total > MaxComposition {
		err = unsupported("its schema combines alternatives in more than %d ways", MaxComposition)
	}
	c.cost[n] = total
	return err
}
