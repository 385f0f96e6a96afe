// The load of links on the shape of the network: a grid of hosts, or devices level by level.

/** Sizes of a torus or mesh, from its name. */
const gridSizes = (topology) => {
  const found = /^(?:twisted )?(?:torus|mesh) ([\d×]+)/.exec(topology);
  return found ? found[1].split("×").map(Number) : null;
};

/** A link of a grid: its host, its dimension, and +1 or -1. */
const gridLink = (name) => {
  const found = /^node-(\d+) ([+-])(x|y|z|d(\d+))$/.exec(name);
  if (!found) return null;
  const along = found[4] ? Number(found[4]) : "xyz".indexOf(found[3]);
  return { host: Number(found[1]), along, up: found[2] === "+" };
};

/** Where each host of a grid is drawn: planes of the first two dimensions, side by side. */
const planes = (sizes, width) => {
  const [across, down] = [sizes[0], sizes[1] || 1];
  const many = sizes.slice(2).reduce((product, size) => product * size, 1);
  let best = null;
  for (let columns = 1; columns <= many; columns += 1) {
    const lines = Math.ceil(many / columns);
    const cell = Math.min(46, (width - 10 * (columns - 1)) / (columns * across), 620 / (lines * (down + 1)));
    if (!best || cell >= best.cell) best = { columns, lines, cell };
    if (columns > 64) break;
  }
  const { columns, lines } = best;
  const cell = Math.max(1.5, best.cell);
  const place = (host) => {
    const plane = Math.floor(host / (across * down));
    const [x, y] = [host % across, Math.floor(host / across) % down];
    return {
      x: (plane % columns) * (across * cell + 10) + x * cell,
      y: Math.floor(plane / columns) * (down * cell + cell * 0.6 + 6) + y * cell,
    };
  };
  return { cell, place, height: lines * (down * cell + cell * 0.6 + 6) };
};

const drawGrid = (context, width, sizes, links, direction) => {
  const { cell, place } = planes(sizes, width);
  const hosts = sizes.reduce((product, size) => product * size, 1);
  const paint = ramp();
  const most = links.reduce((max, link) => Math.max(max, link.use), 0) || 1;
  const load = new Float64Array(hosts);
  const fitting = links.map((link) => [gridLink(link.name), link.use]).filter(([link]) => link &&
    (direction === "all" || direction === `${link.up ? "+" : "-"}${"xyz"[link.along] || `d${link.along}`}`));
  for (const [{ host }, use] of fitting) load[host] = Math.max(load[host], use);
  const side = cell > 20 ? cell * 0.45 : cell - (cell > 4 ? 0.5 : 0);
  for (let host = 0; host < hosts; host += 1) {
    const { x, y } = place(host);
    context.fillStyle = css(paint(load[host] / most));
    context.fillRect(x, y, side, side);
  }
  if (cell <= 20) return;
  // Links to neighbours in the plane as lines beside the host, those to other planes as strokes at its corner.
  for (const [{ host, along, up }, use] of fitting) {
    const { x, y } = place(host);
    const [middle, long] = [side / 2, cell - side];
    context.strokeStyle = css(paint(use / most));
    context.lineWidth = Math.max(1.5, cell * 0.09);
    const shift = up ? -cell * 0.09 : cell * 0.09;
    context.beginPath();
    if (along === 0) {
      context.moveTo(up ? x + side : x, y + middle + shift);
      context.lineTo(up ? x + side + long : x - long / 2, y + middle + shift);
    } else if (along === 1) {
      context.moveTo(x + middle + shift, up ? y + side : y);
      context.lineTo(x + middle + shift, up ? y + side + long : y - long / 2);
    } else {
      context.moveTo(up ? x + side : x, y + (up ? 0 : side));
      context.lineTo(up ? x + side + long * 0.4 : x - long * 0.25, up ? y - long * 0.4 : y + side + long * 0.25);
    }
    context.stroke();
  }
};

/** The two devices that a link joins, by its name. */
const linkEnds = (name) => {
  const found = /^(.+?) to (.+?)( cable \d+)?$/.exec(name);
  if (found) return [found[1], found[2]];
  const star = /^(node-\d+) (up|down|cable)$/.exec(name);
  if (star) return star[2] === "down" ? ["switch", star[1]] : [star[1], "switch"];
  return null;
};

/** Devices by level: hosts at the bottom, then those that are one link away from a host, and so on. */
const levels = (links, hosts) => {
  const neighbours = new Map();
  const join = (one, other) => {
    if (!neighbours.has(one)) neighbours.set(one, new Set());
    neighbours.get(one).add(other);
  };
  for (const { name } of links) {
    const ends = linkEnds(name);
    if (ends) [ends, [...ends].reverse()].forEach(([one, other]) => join(one, other));
  }
  const level = new Map();
  let next = [...neighbours.keys()].filter((name) => name.startsWith("node-"));
  for (let depth = 0; next.length; depth += 1) {
    next.forEach((name) => level.set(name, depth));
    next = [...new Set(next.flatMap((name) => [...neighbours.get(name)]))].filter((name) => !level.has(name));
  }
  const rows = [];
  for (const [name, depth] of level) (rows[depth] = rows[depth] || []).push(name);
  const byNumbers = new Intl.Collator("en", { numeric: true }).compare;
  rows.forEach((row) => row.sort(byNumbers));
  const place = new Map();
  rows.forEach((row, depth) => row.forEach((name, which) => {
    const host = depth === 0 ? /^node-(\d+)$/.exec(name) : null;
    place.set(name, [host ? (Number(host[1]) + 0.5) / hosts : (which + 0.5) / row.length, depth]);
  }));
  return { rows, place };
};

const drawLevels = (context, width, height, links, hosts) => {
  const { rows, place } = levels(links, hosts);
  const paint = ramp();
  const most = links.reduce((max, link) => Math.max(max, link.use), 0) || 1;
  const at = (name) => {
    const [x, depth] = place.get(name);
    return [12 + x * (width - 24), height - 14 - depth * (height - 28) / Math.max(1, rows.length - 1)];
  };
  const busy = new Map();
  const ordered = [...links].sort((one, other) => one.use - other.use).slice(-8000);
  context.globalAlpha = ordered.length > 2000 ? 0.5 : 1;
  for (const { name, use } of ordered) {
    const ends = linkEnds(name);
    if (!ends || !place.has(ends[0]) || !place.has(ends[1])) continue;
    ends.forEach((end) => busy.set(end, Math.max(busy.get(end) || 0, use)));
    const [[x, y], [toX, toY]] = ends.map(at);
    context.strokeStyle = css(paint(0.1 + 0.9 * use / most));
    context.lineWidth = 1 + 2.5 * use / most;
    context.beginPath();
    // There and back do not hide each other.
    const bend = (y > toY ? 3 : -3) + (y === toY ? 26 : 0);
    context.moveTo(x, y);
    context.quadraticCurveTo((x + toX) / 2 + bend, (y + toY) / 2 - (y === toY ? bend : 0), toX, toY);
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const [name] of place) {
    const [x, y] = at(name);
    const side = Math.max(2, Math.min(10, width / (rows[place.get(name)[1]].length * 1.6)));
    context.fillStyle = css(paint((busy.get(name) || 0) / most));
    context.fillRect(x - side / 2, y - side / 2, side, side);
    context.strokeStyle = color("faint");
    context.lineWidth = 0.5;
    context.strokeRect(x - side / 2, y - side / 2, side, side);
  }
};

const addLinks = (data) => {
  const { links, result } = data;
  if (links.length === 0) return;
  const { topology, hosts } = result.network;
  const sizes = gridSizes(topology);
  const isGrid = sizes && links.some(({ name }) => gridLink(name));
  let direction = "all";
  const most = links[0];
  const height = (width) => isGrid ? planes(sizes, width).height : Math.min(420, 90 + 80 * Math.max(1, levels(links.slice(0, 3000), hosts).rows.length));
  const shape = isGrid || links.some(({ name }) => linkEnds(name)) ? chart(`Load of the links of a ${topology}`, height, (context, width, tall) => {
    if (isGrid) drawGrid(context, width, sizes, links, direction); else drawLevels(context, width, tall, links, hosts);
  }, { id: "links-chart" }) : null;
  const directions = isGrid ? ["all", ...sizes.flatMap((_, along) => ["+", "-"].map((way) => `${way}${"xyz"[along] || `d${along}`}`))] : [];
  const made = section("links", "Network",
    element("p", {}, `${count(links.length)} links of the ${topology} carried something; the busiest, ${most.name}, was in use ${percent(most.use)} of the time.`),
    isGrid ? element("div", { class: "controls" }, choice("Links:", directions, (chosen) => {
      direction = chosen;
      shape.redraw();
    })) : null,
    shape ? element("div", { class: "chart" }, shape.canvas) : null,
    shape ? element("p", { class: "faint" }, isGrid
      ? "Each square is a host, coloured by the busiest of its links; planes of the other dimensions are side by side. The strongest colour is the busiest link."
      : "Hosts at the bottom, switches above; lines are links, strongest where they are busiest. Links that carried nothing are left out.") : null,
    table(["link", "use", "", "bytes", "messages"], links.slice(0, 10).map(({ name, use, bytes, messages }) =>
      [name, percent(use), meter(use), volume(bytes), count(messages)]), "The busiest links"));
  addLoads(data, made);
};
