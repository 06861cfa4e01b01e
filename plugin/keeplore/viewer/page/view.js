// The picture: circles and lines in one group that is moved and scaled, names in another whose size stays readable.
const NEAREST = 8, FARTHEST = 0.05;  // scales
const BESIDE = 3;  // pixels between a circle and its name
const EDGE = 16, ABOVE = 76, BELOW = 56;  // pixels that stay free: at the sides, for the heading, for the legend
const svg = document.getElementById("graph");
const scene = document.getElementById("scene");
const labels = document.getElementById("labels");
const measure = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.documentElement).fontFamily;

function make(parent, name, classes) {
  const made = document.createElementNS(svg.namespaceURI, name);
  if (classes) made.setAttribute("class", classes);
  return parent.appendChild(made);
}

class View {
  constructor(graph) {
    this.nodes = graph.nodes;
    this.edges = graph.edges;
    this.byRank = [...graph.nodes].sort((a, b) => b.mentions - a.mentions || a.index - b.index);
    this.chosen = null;
    this.hidden = new Set();  // types
    this.x = this.y = 0;
    this.k = 1;
    this.draw();
  }

  draw() {
    const edges = document.getElementById("edges"), nodes = document.getElementById("nodes");
    for (const edge of this.edges) {
      edge.element = make(edges, "path", edge.kind);
      edge.element.setAttribute("d", lineOf(edge));
    }
    for (const node of [...this.byRank].reverse()) {
      node.element = make(nodes, "g", typeOf(node));
      node.element.dataset.name = node.name;
      node.element.classList.toggle("middle", node.hops === 0 && this.nodes.some((other) => other.hops));
      node.circle = make(node.element, "circle");
      node.circle.setAttribute("cx", node.x.toFixed(2));
      node.circle.setAttribute("cy", node.y.toFixed(2));
      node.size = Math.round(10.5 + 5 * (node.r - RADIUS.least) / RADIUS.more);
      node.text = make(labels, "text");
      node.text.textContent = shortened(node.label, 34);
      node.text.setAttribute("font-size", node.size);
      if (node.size < 12 || !node.edges.length) node.text.setAttribute("class", "minor");
      measure.font = `${node.size}px ${family}`;
      node.width = measure.measureText(node.text.textContent).width;
    }
  }

  get size() {
    return { width: svg.clientWidth || 800, height: svg.clientHeight || 600 };
  }

  isShown(node) {
    return !this.hidden.has(typeOf(node));
  }

  show(x, y, k) {
    const isScaled = k !== this.k || !this.isNamed;
    Object.assign(this, { x, y, k });
    scene.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
    labels.setAttribute("transform", `translate(${x},${y})`);
    if (!isScaled) return;
    this.grown = Math.min(1, k) ** -0.45;  // from afar circles shrink less than the space between them
    for (const node of this.nodes) node.circle.setAttribute("r", (node.r * this.grown).toFixed(2));
    this.name();
  }

  zoom(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
    const k = Math.min(NEAREST, Math.max(FARTHEST, this.k * factor));
    this.show(at.x - (at.x - this.x) * (k / this.k), at.y - (at.y - this.y) * (k / this.k), k);
  }

  move(dx, dy) {
    this.show(this.x + dx, this.y + dy, this.k);
  }

  /** Everything that is shown in the middle of the window, with the names that stand beside the outermost circles. */
  fit() {
    const nodes = this.nodes.filter((node) => this.isShown(node));
    if (!nodes.length) return;
    const { width, height } = this.size;
    const left = Math.min(...nodes.map((n) => n.x - n.r)), right = Math.max(...nodes.map((n) => n.x + n.r));
    const top = Math.min(...nodes.map((n) => n.y - n.r)), bottom = Math.max(...nodes.map((n) => n.y + n.r));
    let over = { left: 40, right: 40 };
    for (let turn = 0; turn < 3; turn += 1) {  // names keep their size, so how far they stick out depends on the scale
      const part = Math.min(1, width / 2 / (over.left + over.right || 1));  // in a narrow window names are cut off, not circles
      over = { left: part * over.left, right: part * over.right };
      const across = Math.max(100, width - over.left - over.right - 2 * EDGE) / (right - left);
      const k = Math.min(1.6, across, Math.max(100, height - ABOVE - BELOW) / (bottom - top));
      this.show(over.left + EDGE + (k * (right - left) < across * (right - left) ? (across - k) * (right - left) / 2 : 0) - k * left,
        (height + ABOVE - BELOW) / 2 - k * (top + bottom) / 2, k);
      over = {
        left: Math.max(0, ...nodes.map((n) => (n.box ? k * left - n.box.x : 0))),
        right: Math.max(0, ...nodes.map((n) => (n.box ? n.box.x + n.box.width - k * right : 0))),
      };
    }
  }

  /** A node in the middle, so near that its surroundings can be read, and what it is tied to in the window if it can be. */
  centre(node) {
    const { width, height } = this.size, near = node.edges.flatMap((edge) => [edge.source, edge.target]);
    const dx = Math.max(1, ...near.map((other) => Math.abs(other.x - node.x)));
    const dy = Math.max(1, ...near.map((other) => Math.abs(other.y - node.y)));
    const k = Math.max(0.6, Math.min(1.6, (width / 2 - 160) / dx, (height / 2 - ABOVE) / dy));
    this.show(width / 2 - k * node.x, height / 2 - k * node.y, k);
  }

  at(point) {
    const x = (point.x - this.x) / this.k, y = (point.y - this.y) / this.k, slack = 4 / this.k;
    return this.byRank.findLast((n) => this.isShown(n) && Math.hypot(n.x - x, n.y - y) <= n.r * this.grown + slack) || null;
  }

  edgeAt(point) {
    const x = (point.x - this.x) / this.k, y = (point.y - this.y) / this.k;
    let best = null, least = 5 / this.k;
    for (const edge of this.edges) {
      if (!this.isShown(edge.source) || !this.isShown(edge.target)) continue;
      if (this.chosen && edge.source !== this.chosen && edge.target !== this.chosen) continue;
      const distance = distanceTo(edge, x, y);
      if (distance < least) [best, least] = [edge, distance];
    }
    return best;
  }

  choose(node) {
    this.chosen = node;
    svg.classList.toggle("choosing", Boolean(node));
    const near = new Set(node ? [node, ...node.edges.flatMap((edge) => [edge.source, edge.target])] : []);
    for (const other of this.nodes) {
      other.element.classList.toggle("lit", near.has(other));
      other.element.classList.toggle("chosen", other === node);
    }
    for (const edge of this.edges) {
      edge.element.classList.toggle("lit", edge.source === node || edge.target === node);
    }
    this.near = near;
    this.name();
  }

  hide(types) {
    this.hidden = types;
    for (const node of this.nodes) node.element.toggleAttribute("hidden", !this.isShown(node));
    for (const edge of this.edges) {
      edge.element.toggleAttribute("hidden", !this.isShown(edge.source) || !this.isShown(edge.target));
    }
    this.name();
  }

  /** Place as many names as fit without covering one another: first what is chosen, then by mentions. */
  name() {
    this.isNamed = true;
    for (const word of labels.querySelectorAll(".word")) word.remove();
    // a name may stand on circles that are dimmed, for these say nothing now
    const bodies = this.nodes.filter((node) => this.isShown(node) && (!this.chosen || this.near.has(node)));
    const taken = new Boxes(bodies, this.k, this.grown);
    const first = this.chosen ? this.byRank.filter((node) => this.near.has(node)) : this.byRank;
    if (this.chosen) first.unshift(...first.splice(first.indexOf(this.chosen), 1));
    for (const node of this.nodes) {
      node.text.setAttribute("hidden", "");
      node.box = null;
    }
    first.filter((node) => this.isShown(node)).forEach((node, rank) => {
      const place = taken.free(node, rank < 12 || this.chosen === node) || null;
      node.text.classList.toggle("strong", this.chosen === node);
      node.box = place;
      if (!place) return;
      node.text.removeAttribute("hidden");
      node.text.setAttribute("x", place.x.toFixed(1));
      node.text.setAttribute("y", (place.y + node.size * 0.8).toFixed(1));
    });
    if (this.chosen) this.nameRelations(taken);
  }

  nameRelations(taken) {
    measure.font = `italic 11px ${family}`;
    for (const edge of this.chosen.edges) {
      if (edge.kind !== "relation" || !this.isShown(edge.source) || !this.isShown(edge.target)) continue;
      const said = shortened(edge.word, 28), width = measure.measureText(said).width;
      const x = this.k * (edge.source.x + edge.target.x) / 2 - width / 2;
      const y = this.k * (edge.source.y + edge.target.y) / 2 - 7;
      if (!taken.take({ x, y, width, height: 14 })) continue;
      const word = make(labels, "text", "word");
      word.textContent = said;
      word.setAttribute("font-size", 11);
      word.setAttribute("x", x.toFixed(1));
      word.setAttribute("y", (y + 10.5).toFixed(1));
    }
  }
}

/** Rectangles that are taken, in pixels from the scene's origin. */
class Boxes {
  constructor(nodes, k, grown) {
    Object.assign(this, { k, grown });
    this.names = [];
    this.circles = nodes.map((n) => {
      const r = k * n.r * grown;
      return { node: n, x: k * n.x - r, y: k * n.y - r, width: 2 * r, height: 2 * r };
    });
  }

  take(box) {
    if (this.names.some((other) => meets(box, other))) return false;
    this.names.push(box);
    return true;
  }

  /** Right of a circle, left, below or above it; ``mayCover`` smaller circles rather than have no name. */
  free(node, mayCover) {
    const x = this.k * node.x, y = this.k * node.y, r = this.k * node.r * this.grown + BESIDE, height = node.size * 1.15, width = node.width;
    const places = [[x + r, y - height / 2], [x - r - width, y - height / 2], [x - width / 2, y + r], [x - width / 2, y - r - height]]
      .map(([left, top]) => ({ x: left, y: top, width, height }));
    const clear = places.filter((box) => !this.names.some((other) => meets(box, other)));
    const open = clear.find((box) => !this.circles.some((circle) => circle.node !== node && meets(box, circle)));
    const found = open || (mayCover && clear[0]);
    if (found) this.names.push(found);
    return found;
  }
}

function meets(a, b) {
  return a.x < b.x + b.width + 2 && b.x < a.x + a.width + 2 && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** From rim to rim; a relation has an arrow at its target. */
function lineOf({ source, target, kind }) {
  const dx = target.x - source.x, dy = target.y - source.y, length = Math.hypot(dx, dy) || 1;
  const ux = dx / length, uy = dy / length, p = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const x = target.x - ux * (target.r + 1), y = target.y - uy * (target.r + 1);
  const line = `M${p(source.x + ux * source.r, source.y + uy * source.r)}L${p(x, y)}`;
  if (kind !== "relation" || length < source.r + target.r + 8) return line;
  return `${line}M${p(x - 5 * ux - 2.6 * uy, y - 5 * uy + 2.6 * ux)}L${p(x, y)}L${p(x - 5 * ux + 2.6 * uy, y - 5 * uy - 2.6 * ux)}`;
}

function distanceTo({ source, target }, x, y) {
  const dx = target.x - source.x, dy = target.y - source.y;
  const along = Math.max(0, Math.min(1, ((x - source.x) * dx + (y - source.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(source.x + along * dx - x, source.y + along * dy - y);
}

/** Of a long name its beginning and its end, which of a path tells most. */
function shortened(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const first = Math.floor(most / 3);
  return `${letters.slice(0, first).join("")}…${letters.slice(first + 1 - most).join("")}`;
}
