// Where everything stands: counted ticks and the library's own fixed random numbers, so each time in the same place.
const TICKS = { least: 80, most: 300, work: 90_000 };  // work: ticks times nodes, so that a large picture comes soon too
const RADIUS = { least: 4, more: 15 };  // of a circle, by the square root of its mentions

function laidOut(data) {
  const most = Math.max(1, ...data.entities.map((entity) => entity.mentions));
  const nodes = data.entities.map((entity, index) => ({
    ...entity, index, edges: [], r: RADIUS.least + RADIUS.more * Math.sqrt(entity.mentions / most),
  }));
  const edges = [
    ...data.relations.filter((r) => r.source !== r.target).map((r) => ({
      kind: "relation", source: nodes[r.source], target: nodes[r.target], word: r.relationship, ...pick(r),
    })),
    ...data.together.map((t) => ({
      kind: "together", source: nodes[t.entities[0]], target: nodes[t.entities[1]], memories: t.memories, confidence: 1,
    })),
  ];
  for (const edge of edges) {
    edge.source.edges.push(edge);
    edge.target.edges.push(edge);
  }
  settle(nodes, edges);
  return { nodes, edges };
}

function pick(relation) {
  return { confidence: relation.confidence, mentions: relation.mentions };
}

function settle(nodes, edges) {
  const spread = nodes.length < 60 ? 1.5 : 1;
  const busy = (node) => Math.max(1, node.edges.length);
  const ticks = Math.round(Math.min(TICKS.most, Math.max(TICKS.least, TICKS.work / nodes.length)));
  const simulation = d3.forceSimulation(nodes)
    .force("links", d3.forceLink(edges)
      .distance((edge) => spread * (34 + edge.source.r + edge.target.r + (edge.kind === "together" ? 20 : 0)))
      .strength((edge) => (edge.kind === "relation" ? 1 : 0.5) / Math.min(busy(edge.source), busy(edge.target))))
    .force("apart", d3.forceManyBody().strength((node) => -spread * (node.edges.length ? 70 + 9 * node.r : 20)).theta(1.1))
    .force("bodies", d3.forceCollide((node) => node.r + 7).strength(0.9))
    .force("x", d3.forceX(0).strength(0.06))  // no name may drift away
    .force("y", d3.forceY(0).strength(0.068))
    .alphaDecay(1 - 0.001 ** (1 / ticks))
    .stop();
  if (nodes[0] && nodes[0].hops === 0 && nodes.length > 1 && nodes[1].hops > 0) {
    nodes[0].fx = nodes[0].fy = 0;
  }
  simulation.tick(ticks);
}
