// Pointers, keys and the search box, tied to the picture.
const data = JSON.parse(document.getElementById("data").textContent);
const view = new View(laidOut(data));
const search = document.getElementById("search");
const found = document.getElementById("found");
const tip = document.getElementById("tip");
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const STEP = 60;  // pixels for one press of an arrow key
let glide = 0;

function choose(node, { isFollowed = true } = {}) {
  view.choose(node);
  fillDetails(data, node, choose);
  for (const item of listed.querySelectorAll("[aria-current]")) item.removeAttribute("aria-current");
  if (!node) return;
  node.item.setAttribute("aria-current", "true");
  node.item.scrollIntoView({ block: "nearest" });
  stopAt(node.item);
  if (isFollowed) glideTo(() => view.centre(node));
}

/** Show the way to a new view instead of jumping there, unless the person wants nothing to move. */
function glideTo(change) {
  cancelAnimationFrame(glide);
  const from = [view.x, view.y, view.k];
  change();
  const to = [view.x, view.y, view.k], began = performance.now();
  if (isStill.matches) return;
  const step = (now) => {
    const part = Math.min(1, Math.max(0, (now - began) / 260)), eased = 1 - (1 - part) ** 3;
    view.show(...to.map((end, i) => from[i] + (end - from[i]) * eased));
    if (part < 1) glide = requestAnimationFrame(step);
  };
  view.show(...from);
  glide = requestAnimationFrame(step);
}

function look() {
  const hits = matching(view.byRank, search.value).filter((node) => view.isShown(node)), shown = new Set(hits);
  for (const node of view.nodes) node.item.parentElement.hidden = !shown.has(node);
  const isAsked = search.value.trim() !== "";
  found.textContent = isAsked ? `${hits.length} of ${counted(view.nodes.length, "name", "names")}${hits.length ? "; Enter goes to the first" : ""}` : "";
  stopAt(shownItems()[0]);
  return isAsked ? hits : [];
}

function listenToSearch() {
  search.addEventListener("input", look);
  document.getElementById("asking").addEventListener("submit", (event) => {
    event.preventDefault();
    const [first] = look();
    if (first) choose(first);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      shownItems()[0]?.focus();
      event.preventDefault();
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      search.focus();
      search.select();
      event.preventDefault();
    } else if (event.key === "Escape") {
      choose(null);
    }
  });
}

function listenToKeys() {
  const keys = {
    ArrowLeft: () => view.move(STEP, 0), ArrowRight: () => view.move(-STEP, 0),
    ArrowUp: () => view.move(0, STEP), ArrowDown: () => view.move(0, -STEP),
    "+": () => view.zoom(1.3), "=": () => view.zoom(1.3), "-": () => view.zoom(1 / 1.3), 0: () => glideTo(() => view.fit()),
  };
  svg.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    cancelAnimationFrame(glide);
    keys[event.key]();
    event.preventDefault();
  });
  document.getElementById("closer").addEventListener("click", () => glideTo(() => view.zoom(1.5)));
  document.getElementById("farther").addEventListener("click", () => glideTo(() => view.zoom(1 / 1.5)));
  document.getElementById("whole").addEventListener("click", keys[0]);
}

function pointIn(event) {
  const box = svg.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function listenToPointers() {
  const down = new Map();  // of each finger or button: where it is now
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    cancelAnimationFrame(glide);
    svg.setPointerCapture(event.pointerId);
    if (!down.size) moved = 0;
    down.set(event.pointerId, pointIn(event));
    tip.hidden = true;
  });
  svg.addEventListener("pointermove", (event) => {
    const now = pointIn(event), before = down.get(event.pointerId);
    if (!before) return hint(now);
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const factor = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
      view.zoom(factor, other);
    } else if (moved > 4) {
      svg.classList.add("moving");
      view.move(now.x - before.x, now.y - before.y);
    }
    down.set(event.pointerId, now);
  });
  const up = (event) => {
    if (down.delete(event.pointerId) && !down.size) {
      svg.classList.remove("moving");
      if (event.type === "pointerup" && moved <= 4) choose(view.at(pointIn(event)), { isFollowed: false });
    }
  };
  svg.addEventListener("pointerup", up);
  svg.addEventListener("pointercancel", up);
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  svg.addEventListener("dblclick", (event) => glideTo(() => view.zoom(1.8, pointIn(event))));
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    cancelAnimationFrame(glide);
    const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : 1);
    view.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), pointIn(event));
  }, { passive: false });
}

/** What is under the pointer: a name with what it is, or what a line means. */
function hint(point) {
  const node = view.at(point), edge = node ? null : view.edgeAt(point);
  tip.hidden = !node && !edge;
  svg.style.cursor = node ? "pointer" : "";
  if (tip.hidden) return;
  tip.textContent = node ? `${node.label} · ${node.type} · ${counted(node.mentions, "mention", "mentions")}` : meaning(edge);
  const { width, height } = view.size;
  tip.style.left = `${Math.max(4, Math.min(point.x + 14, width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${point.y + 18 + tip.offsetHeight > height ? point.y - 12 - tip.offsetHeight : point.y + 18}px`;
}

function meaning({ kind, source, target, word, memories }) {
  const said = kind === "relation" ? word : `together in ${counted(memories, "memory", "memories")} with`;
  return kind === "relation" ? `${source.label} — ${said} → ${target.label}` : `${source.label} ${said} ${target.label}`;
}

function summary() {
  const kinds = view.edges.filter((edge) => edge.kind === "relation").length;
  const said = [`${counted(view.nodes.length, "name", "names")}, ${counted(kinds, "relation", "relations")}.`];
  if (data.has_more) said.push("There are more: these are the ones mentioned most.");
  if (view.edges.length > kinds) said.push("Pale lines join what the same memories mention.");
  return said.join(" ");
}

function fromAddress() {
  let wanted = location.hash.slice(1);
  try {
    wanted = decodeURIComponent(wanted);
  } catch {
    // a percent sign that is none of an address: looked for as it stands
  }
  const [first] = wanted ? matching(view.byRank, wanted) : [];
  if (first) choose(first);
}

document.getElementById("heading").textContent = data.title;
document.getElementById("summary").textContent = summary();
fillList(view.byRank, (node) => choose(node));
fillLegend(view.nodes, (hidden) => {
  view.hide(hidden);
  look();
});
look();
view.fit();
listenToSearch();
listenToKeys();
listenToPointers();
addEventListener("resize", () => view.fit());
addEventListener("hashchange", fromAddress);
if (data.about && !location.hash) choose(view.nodes.find((node) => node.name === data.about), { isFollowed: false });
fromAddress();
// for scripts and tests: what is drawn, where, and what is chosen
window.keeplore = {
  nodes: view.nodes.length,
  view: () => ({ x: view.x, y: view.y, k: view.k }),
  chosen: () => view.chosen?.name ?? null,
  choose: (name) => choose(view.nodes.find((node) => node.name === name) ?? null),
  place: (name) => {
    const node = view.nodes.find((other) => other.name === name);
    return node && { x: view.x + view.k * node.x, y: view.y + view.k * node.y };
  },
};
