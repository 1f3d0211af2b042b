// Gives the document as HTML. Open shadow trees take the place of their host's children,
// with the slots filled, so that a reader that knows no shadow trees finds their text.
// The copies live in a document without scripts: no constructor of the page runs.
limit => {
  const root = document.documentElement;
  if (!root) return { html: "", title: "", tooLong: false };
  const hasShadow = node => {
    for (const el of node.querySelectorAll("*")) if (el.shadowRoot) return true;
    return false;
  };
  const inert = document.implementation.createHTMLDocument("");
  const flatten = (original, copy, depth) => {
    const from = original.querySelectorAll("*"), to = copy.querySelectorAll("*");
    for (let i = 0; i < from.length; i++) {
      const shadow = from[i].shadowRoot;
      if (!shadow || !to[i] || depth > 32) continue;
      const tree = inert.importNode(document.createDocumentFragment(), true);
      for (const child of shadow.childNodes) tree.append(inert.importNode(child, true));
      flatten(shadow, tree, depth + 1);
      for (const el of tree.querySelectorAll("style, link")) el.remove();
      const light = [...to[i].childNodes];
      for (const slot of tree.querySelectorAll("slot")) {
        const name = slot.getAttribute("name") || "";
        const picked = light.filter(n => (n.nodeType === 1 ? n.getAttribute("slot") || "" : "") === name);
        if (picked.length) slot.replaceWith(...picked);
      }
      to[i].replaceChildren(tree);
    }
  };
  let out = root;
  if (hasShadow(root)) {
    out = inert.importNode(root, true);
    flatten(root, out, 0);
  }
  const html = out.outerHTML;
  return html.length > limit ? { html: "", title: document.title, tooLong: true } : { html, title: document.title, tooLong: false };
}
