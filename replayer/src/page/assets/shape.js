// The shape of the machine: a grid of hosts, or groups of hosts at the same switch.

/** Sizes of a torus or mesh, from its name. */
const gridSizes = (topology) => {
  const found = /^(?:twisted )?(?:torus|mesh) ([\d×]+)/.exec(topology);
  return found ? found[1].split("×").map(Number) : null;
};

/** The numbers of hosts that have names of their own, by their names. */
const namedHosts = new Map();
const nameHosts = (names) => names.forEach((name, host) => namedHosts.set(name, host));
const hostName = (host) => [...namedHosts.keys()][host] ?? `node-${host}`;

/** A link of a grid: its host, its dimension, and +1 or -1, and the rail that it is of. */
const gridLink = (name) => {
  const found = /^(rail-\d+ )?node-(\d+) ([+-])(x|y|z|d(\d+))$/.exec(name);
  if (!found) return null;
  const along = found[5] ? Number(found[5]) : "xyz".indexOf(found[4]);
  return { rail: found[1] || "", host: Number(found[2]), along, up: found[3] === "+" };
};

/** The number of a device that is a host; null of another. */
const hostNumber = (device) => {
  const found = /^node-(\d+)$/.exec(device);
  return namedHosts.get(device) ?? (found && namedHosts.size === 0 ? Number(found[1]) : null);
};

/** The two devices that a link joins, by its name. Each rail has its own switches. */
const linkEnds = (name) => {
  // After the second device, the number or the colour of a cable.
  const found = /^(rail-\d+ )?(\S+) to (\S+)( .*)?$/.exec(name);
  if (found) return [found[2], found[3]].map((device) => found[1] && hostNumber(device) === null ? found[1] + device : device);
  const star = /^(rail-\d+ )?(node-\d+) (up|down|cable)$/.exec(name);
  const centre = star && `${star[1] || ""}switch`;
  if (star) return star[3] === "down" ? [centre, star[2]] : [star[2], centre];
  return null;
};

const isInsideHost = ({ name }) => /^(rail-\d+ )?node-\d+ /.test(name) && !linkEnds(name) && !gridLink(name);
/** The host that a link leaves; null if it leaves another device. */
const hostOf = (name) => {
  const found = gridLink(name);
  return found ? found.host : hostNumber((linkEnds(name) || [""])[0]);
};

const GAP = 12;
const LABEL = 15;

/** Places of grids of `across` × `down` cells beside and below each other, as large as the width and `tall` admit. */
const tiled = (many, across, down, width, tall, most, label) => {
  let best = null;
  for (let columns = 1; columns <= Math.min(many, 256); columns += 1) {
    const lines = Math.ceil(many / columns);
    const cell = Math.min(most, (width - GAP * (columns - 1)) / (columns * across), (tall / lines - GAP - label) / down);
    // Of layouts with equal cells, the lowest.
    if (!best || cell > best.cell * 1.001 || (cell > best.cell * 0.999 && lines < best.lines)) best = { columns, lines, cell };
  }
  const { columns, lines } = best;
  const cell = Math.max(1, best.cell);
  const tile = (which) => ({ x: (which % columns) * (across * cell + GAP), y: Math.floor(which / columns) * (down * cell + GAP + label) });
  return { cell, label, tile, height: lines * (down * cell + GAP + label) - GAP };
};

/** Hosts with ranks, in groups: planes of a grid, hosts at the same switch, or all hosts together. */
const machineShape = ({ origin, result, links }) => {
  const { topology, hosts } = result.network;
  const used = [...new Set(origin.hosts)].sort((one, other) => one - other);
  const sizes = gridSizes(topology);
  if (sizes && sum([sizes.reduce((product, size) => product * size, 1)]) === hosts) {
    const [across, down] = [sizes[0], sizes[1] || 1];
    const coordinates = (host) => {
      let rest = host;
      return sizes.map((size) => { const at = rest % size; rest = Math.floor(rest / size); return at; });
    };
    const planes = [...new Set(used.map((host) => Math.floor(host / (across * down))))];
    const names = "xyz";
    const axis = (along) => sizes.length > 3 ? `d${along}` : names[along];
    return { across, down, groups: planes.map((plane) => ({
      name: sizes.length < 3 ? "" : coordinates(plane * across * down).slice(2).map((at, along) => `${axis(along + 2)} = ${at}`).join(", "),
      cells: Array.from({ length: across * down }, (_, place) => plane * across * down + place),
    })), hostName: (host) => `node-${host} (${coordinates(host).join(", ")})`, isGrid: true };
  }
  const switches = new Map();
  for (const { name } of links) {
    const ends = linkEnds(name);
    if (!ends) continue;
    for (const [host, device] of [ends, [...ends].reverse()]) {
      const number = hostNumber(host);
      if (number !== null && !switches.has(number)) switches.set(number, device);
    }
  }
  // Hosts that sent nothing into the network belong to no known switch.
  const groups = grouped(used, (host) => switches.get(host) || "", () => 1).sort((one, other) => one.rows[0] - other.rows[0]);
  const most = largest(groups.map(({ rows }) => rows.length));
  const across = most <= 8 ? most : 2 ** Math.ceil(Math.log2(Math.sqrt(most)));
  return { across, down: Math.ceil(most / across), groups: groups.map(({ key, rows }) => ({ name: groups.length > 1 ? key : "", cells: rows })),
    hostName: (host) => `${hostName(host)}${switches.has(host) && switches.get(host) !== "switch" ? ` at ${switches.get(host)}` : ""}`, isGrid: false };
};
