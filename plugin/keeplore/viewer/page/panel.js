// What stands beside the picture: search, the list of everything, and what is known of the one that is chosen.
const TYPES = ["project", "tool", "system", "concept", "person", "skill", "task", "unknown"];
const listed = document.getElementById("list");
const details = document.getElementById("details");

function typeOf(node) {
  return TYPES.includes(node.type) ? node.type : "unknown";
}

/** An element with text in it; nothing of the data is ever read as markup. */
function element(name, classes, ...children) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  made.append(...children);
  return made;
}

function counted(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

function button(text, act, ...children) {
  const made = element("button", "", ...(text ? [text] : []), ...children);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

function fillList(nodes, choose) {
  for (const node of nodes) {
    const item = button("", () => choose(node), element("span", "dot"), element("span", "name", node.label),
      element("small", "", node.mentions.toLocaleString("en")));
    item.title = node.project ? `${node.spelling} (${node.project})` : node.spelling;
    item.tabIndex = -1;
    node.item = listed.appendChild(element("li", typeOf(node), item)).firstChild;
  }
  listed.addEventListener("keydown", (event) => {
    const items = shownItems(), at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined || !items[to]) return;
    items[to].focus();
    event.preventDefault();
  });
  // one stop of the tabulator for the whole list: where the keys were last
  listed.addEventListener("focusin", (event) => stopAt(event.target));
}

function shownItems() {
  return [...listed.querySelectorAll("li:not([hidden]) button")];
}

function stopAt(item) {
  for (const other of listed.querySelectorAll("button[tabindex='0']")) other.tabIndex = -1;
  if (item) item.tabIndex = 0;
}

function fillLegend(nodes, changed) {
  const hidden = new Set(), legend = document.getElementById("legend");
  for (const type of TYPES) {
    const number = nodes.filter((node) => typeOf(node) === type).length;
    if (!number) continue;
    const chip = button("", () => {
      hidden.has(type) ? hidden.delete(type) : hidden.add(type);
      chip.setAttribute("aria-pressed", String(!hidden.has(type)));
      changed(hidden);
    }, element("span", "dot"), type, element("small", "", String(number)));
    chip.setAttribute("aria-pressed", "true");
    legend.append(element("li", type, chip));
  }
}

/** Small letters without accents: how a name is looked for. */
function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Best first: the name itself, what begins with it, what holds it. */
function matching(nodes, text) {
  const wanted = folded(text.trim());
  if (!wanted) return nodes;
  const rank = (node) => Math.min(...[node.name, node.label, ...node.aliases].map((name) => {
    const at = folded(name).indexOf(wanted);
    return at < 0 ? 3 : at > 0 ? 2 : folded(name) === wanted ? 0 : 1;
  }));
  return nodes.map((node) => [rank(node), node]).filter(([r]) => r < 3).sort((a, b) => a[0] - b[0]).map(([, node]) => node);
}

function fillDetails(data, node, choose) {
  details.hidden = !node;
  details.replaceChildren();
  if (!node) return;
  const close = button("×", () => choose(null));
  close.id = "close";
  close.setAttribute("aria-label", "Close");
  details.append(close, element("h2", "", node.spelling));
  details.append(element("p", typeOf(node), element("span", "kind", element("span", "dot"), node.type), ` · ${counted(node.mentions, "mention", "mentions")}`));
  if (node.project) details.append(element("p", "", `only in the project ${node.project}`));
  if (node.aliases.length) details.append(element("p", "", `also: ${node.aliases.join(", ")}`));
  part("Relations", "near", node.edges.filter((edge) => edge.kind === "relation").map((edge) => relation(node, edge, choose)));
  part("Aspects", "", node.aspects.map((a) => element("li", "", a.aspect, " ", element("small", "", `${a.kind} · ${counted(a.memories, "memory", "memories")}`))));
  part("Memories that mention it", "told", node.memories.map((id) => memory(id, data.memories[id], data.memory_address)));
  const pairs = node.edges.filter((edge) => edge.kind === "together").sort((a, b) => b.memories - a.memories);
  part("Mentioned together with", "near", pairs.map((edge) => together(node, edge, choose)));
  details.scrollTop = 0;
}

function part(heading, classes, items) {
  if (items.length) details.append(element("h3", "", heading), element("ul", classes, ...items));
}

function relation(node, edge, choose) {
  const isOut = edge.source === node, other = isOut ? edge.target : edge.source;
  const words = [element("em", "", `${edge.word} ${isOut ? "→" : "←"} `), other.label];
  const measured = `${Math.round(100 * edge.confidence)}% · ${counted(edge.mentions, "time", "times")}`;
  return element("li", "", button("", () => choose(other), ...words, " ", element("small", "", measured)));
}

function together(node, edge, choose) {
  const other = edge.source === node ? edge.target : edge.source;
  const said = element("small", "", `in ${counted(edge.memories, "memory", "memories")}`);
  return element("li", "", button("", () => choose(other), other.label, " ", said));
}

/** The day of a moment (RFC 3339) by the clocks of this place, as the locale "sv" writes it: 2026-02-09. */
function day(at) {
  const moment = at.length > "2026-02-09".length ? new Date(at) : NaN;
  return isNaN(moment) ? at : moment.toLocaleDateString("sv");
}

function memory(id, told, address) {
  const short = id.replace(/^mem_/, "").slice(0, 8);
  let title = told.title;
  if (address) {
    title = element("a", "", told.title);
    title.href = address.join(short);
    title.target = "_top";
  }
  return element("li", "", title, element("small", "", `${day(told.at)} · `, element("code", "", short)));
}
