// Brings what is to be drawn into the page and gives its place, in CSS pixels from the
// page's corner. A whole page is scrolled through once, a bounded way, so that images that
// wait to be seen are loaded.
async (selector, fullPage) => {
  const root = document.scrollingElement || document.documentElement;
  const pause = ms => new Promise(done => setTimeout(done, ms));
  const images = async () => {
    const pending = [...document.images].filter(i => !i.complete).slice(0, 100);
    const loaded = pending.map(i => new Promise(done => { i.addEventListener("load", done); i.addEventListener("error", done); }));
    await Promise.race([Promise.all(loaded), pause(2000)]);
  };
  if (!root) return { found: "yes", x: 0, y: 0, width: innerWidth, height: innerHeight, title: document.title };
  if (selector) {
    let el;
    try { el = document.querySelector(selector); } catch { return { found: "bad" }; }
    if (!el) return { found: "no" };
    el.scrollIntoView({ behavior: "instant", block: "nearest" });
    await pause(50);
    await images();
    const r = el.getBoundingClientRect();
    return { found: "yes", x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, title: document.title };
  }
  if (fullPage) {
    for (let y = 0, n = 0; y < root.scrollHeight && n < 25; y += innerHeight, n++) {
      scrollTo({ top: y, behavior: "instant" });
      await pause(40);
    }
    await images();
    scrollTo({ top: 0, behavior: "instant" });
    await pause(40);
    return { found: "yes", x: 0, y: 0, width: Math.max(root.scrollWidth, innerWidth), height: Math.max(root.scrollHeight, innerHeight), title: document.title };
  }
  await images();
  return { found: "yes", x: scrollX, y: scrollY, width: innerWidth, height: innerHeight, title: document.title };
}
