// The load of links: on the shape of the network, the busiest ones, and over time. Links inside hosts come last.

const directionName = ({ rail, along, up }) => `${rail}${up ? "+" : "−"}${"xyz"[along] || `d${along}`}`;

/** The colour of a link: of its use, from 0 to 1, unless it has failed. */
const linkPaint = () => {
  const paint = ramp();
  return ({ use, failed }) => failed ? color("worse") : css(paint(use));
};

/** The links of a grid by their direction: [direction, link by host], for the directions that have any. */
const gridDirections = (links) => {
  const found = links.map((one) => ({ ...one, ...gridLink(one.name) })).filter(({ host }) => host !== undefined);
  const directions = grouped(found, directionName, () => 1).map(({ key, rows }) => [key, new Map(rows.map((one) => [one.host, one]))]);
  const axis = (direction) => direction.replace(/[+−]/, "");
  return directions.sort(([one], [other]) => axis(one).localeCompare(axis(other)) || one.localeCompare(other));
};

const MARGIN = 30;
/** A panel for each direction: the side of a cell, where a plane is in a panel, where the name of a panel is, and the height of all. */
const gridPanels = (shape, many, width) => {
  const planes = shape.groups.length;
  if (planes === 1) {
    const { cell, tile, height } = tiled(many, shape.across, shape.down, width, 400, 26, LABEL);
    return { cell, height, title: tile, plane: (panel) => ({ x: tile(panel).x, y: tile(panel).y + LABEL }) };
  }
  const { cell, tile, height } = tiled(planes, shape.across, shape.down, width - MARGIN, Math.max(90, 480 / many), 26, 0);
  const tall = height + GAP;
  return { cell, height: many * tall, title: (panel) => ({ x: 0, y: panel * tall }),
    plane: (panel, which) => ({ x: MARGIN + tile(which).x, y: panel * tall + tile(which).y }) };
};

const drawGrid = (context, width, shape, directions) => {
  const { cell, title, plane } = gridPanels(shape, directions.length, width);
  const paint = linkPaint();
  const gap = cell > 12 ? 2 : cell > 6 ? 1 : 0;
  context.textAlign = "left";
  context.textBaseline = "top";
  directions.forEach(([direction, links], panel) => {
    context.font = BOLD;
    context.fillStyle = color("ink");
    context.fillText(direction, title(panel).x, title(panel).y);
    shape.groups.forEach((group, which) => {
      const { x, y } = plane(panel, which);
      group.cells.forEach((host, at) => {
        context.fillStyle = links.has(host) ? paint(links.get(host)) : color("panel");
        const [left, top] = [x + at % shape.across * cell, y + Math.floor(at / shape.across) * cell];
        context.fillRect(left, top, cell - gap, cell - gap);
        if (!links.has(host) || !links.get(host).failed || cell < 5) return;
        context.strokeStyle = color("ink");
        context.beginPath();
        for (const [from, to] of [[0, 1], [1, 0]]) {
          context.moveTo(left + from * (cell - gap), top);
          context.lineTo(left + to * (cell - gap), top + cell - gap);
        }
        context.stroke();
      });
    });
  });
};

/** The group of a switch: the first numbers of its name. */
const groupOf = (name) => name.replace(/\.\d+$/, "");
/** Whether a switch is the first of its group in a row, which has one group after the other. */
const isFirst = (row, which) => which === 0 || groupOf(row[which]) !== groupOf(row[which - 1]);

/** Devices by level: hosts with traffic at the bottom, then devices that are one link away from a host, and so on. */
const levels = (links) => {
  const neighbours = new Map();
  const join = (one, other) => (neighbours.get(one) || neighbours.set(one, new Set()).get(one)).add(other);
  for (const { name } of links) {
    const ends = linkEnds(name);
    if (ends) [ends, [...ends].reverse()].forEach(([one, other]) => join(one, other));
  }
  const level = new Map();
  let next = [...neighbours.keys()].filter((name) => hostNumber(name) !== null);
  for (let depth = 0; next.length; depth += 1) {
    next.forEach((name) => level.set(name, depth));
    next = [...new Set(next.flatMap((name) => [...neighbours.get(name)]))].filter((name) => !level.has(name));
  }
  const rows = [];
  for (const [name, depth] of level) (rows[depth] = rows[depth] || []).push(name);
  const byNumbers = new Intl.Collator("en", { numeric: true }).compare;
  rows.forEach((row) => row.sort(byNumbers));
  const place = new Map();
  rows.forEach((row, depth) => {
    // Groups of switches, which have the first number in common, stand apart.
    const groups = new Set(row.map(groupOf)).size;
    const apart = groups < row.length ? 0.7 : 0;
    let group = -1;
    row.forEach((name, which) => {
      if (isFirst(row, which)) group += 1;
      place.set(name, [(which + 0.5 + apart * (group + 0.5)) / (row.length + apart * groups), depth]);
    });
  });
  return { rows, place };
};

/** The most links that are drawn as lines, the busiest first. */
const MOST_LINES = 40000;

/** Whether a link joins devices of one level; it is an arc above them. */
const isArc = (place, { name }) => {
  const ends = linkEnds(name);
  return ends && ends.every((end) => place.has(end)) && place.get(ends[0])[1] === place.get(ends[1])[1];
};

const ARCS = 120;
/** The curve of each link, with a number for each of its points: begin, the point that bends it, end; and the place of a device. */
const curvesOf = ({ rows, place, hasArcs }, links, width, height) => {
  const top = hasArcs ? ARCS : 28;
  const at = (name) => {
    const [x, depth] = place.get(name);
    return [6 + x * (width - 12), height - 26 - depth * (height - 26 - top) / Math.max(1, rows.length - 1)];
  };
  const curves = links.flatMap((one) => {
    const ends = linkEnds(one.name);
    if (!ends || !ends.every((end) => place.has(end))) return [];
    const [[x, y], [toX, toY]] = ends.map(at);
    // The two directions of a cable do not hide each other.
    const aside = y > toY || (y === toY && x > toX) ? 4 : -4;
    const above = y === toY ? 24 + Math.abs(toX - x) / width * 1.6 * (ARCS - 24) + 2 * aside : 0;
    return [{ one, points: [x, y, (x + toX) / 2 + (above ? 0 : aside), (y + toY) / 2 - above, toX, toY] }];
  });
  return { curves, at };
};

/** How near a curve is to a place, by some of its points. */
const distance = ({ points: [x, y, byX, byY, toX, toY] }, left, high) => {
  let near = Infinity;
  for (let step = 0; step <= 24; step += 1) {
    const part = step / 24;
    const [one, two, three] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2];
    near = Math.min(near, Math.hypot(one * x + two * byX + three * toX - left, one * y + two * byY + three * toY - high));
  }
  return near;
};

const drawLevels = (context, width, height, tree, links) => {
  const { rows, hasArcs } = tree;
  const paint = linkPaint();
  const ordered = [...links].sort((one, other) => (one.failed || 0) - (other.failed || 0) || one.use - other.use).slice(-MOST_LINES);
  const { curves, at } = curvesOf(tree, ordered, width, height);
  context.globalAlpha = ordered.length > 2000 ? 0.5 : 1;
  for (const { one, points: [x, y, byX, byY, toX, toY] } of curves) {
    // A line of little use is seen by its edge.
    for (const [style, wide] of [[color("line"), ordered.length > 400 ? 0 : 2.4], [paint(one), 1.6]]) {
      if (!wide) continue;
      context.strokeStyle = style;
      context.lineWidth = wide + 3 * Math.min(1, one.failed ? 0.5 : one.use);
      context.setLineDash(one.failed ? [6, 4] : []);
      context.beginPath();
      context.moveTo(x, y);
      context.quadraticCurveTo(byX, byY, toX, toY);
      context.stroke();
    }
  }
  tree.curves = curves;
  context.setLineDash([]);
  context.globalAlpha = 1;
  context.font = FONT;
  context.textAlign = "center";
  rows.forEach((row, depth) => {
    const places = row.map((name) => at(name)[0]);
    const room = places.slice(1).reduce((least, place, which) => Math.min(least, place - places[which]), width / row.length);
    const side = Math.max(2, Math.min(11, room * 0.6));
    const widest = (names) => largest(names.map((name) => measuring.measureText(name).width));
    const numbers = row.map((name) => name.replace(/^\D*-/, ""));
    const texts = depth > 0 && widest(row) + 8 <= room ? row : numbers;
    // Where not all have room, every second number is written, or every fifth, and so on.
    // Of groups, as many as there is room for have their first one's.
    const firsts = row.filter((_, which) => isFirst(row, which)).length;
    const long = widest(texts) + 6;
    const isGrouped = firsts > 1 && firsts < row.length && long > room;
    const step = [1, 2, 5, 10, 20, 50, 100].find((step) => long <= step * (isGrouped ? width / firsts : room)) || row.length;
    let group = -1;
    row.forEach((name, which) => {
      const [x, y] = at(name);
      context.fillStyle = color("faint");
      context.fillRect(x - side / 2, y - side / 2, side, side);
      if (isFirst(row, which)) group += 1;
      if (isGrouped ? !isFirst(row, which) || group % step > 0 : which % step > 0) return;
      const text = texts[which];
      context.textBaseline = depth === 0 || hasArcs ? "top" : "bottom";
      const half = measuring.measureText(text).width / 2;
      const [middle, edge] = [Math.min(width - half, Math.max(half, x)), depth === 0 || hasArcs ? y + 8 : y - 8];
      context.fillStyle = color("paper");
      context.globalAlpha = 0.8;
      context.fillRect(middle - half - 2, context.textBaseline === "top" ? edge - 1 : edge - 12, 2 * half + 4, 13);
      context.globalAlpha = 1;
      context.fillStyle = color("faint");
      context.fillText(text, middle, edge);
    });
  });
};

/** What the picture of a result says of links and of each link, and what its colours mean; a machine without a program has others. */
const USE_WORDS = { what: "Use", bar: (context, y, width) => colorBar(context, y, width, `0${SPACE}%`, `100${SPACE}%`, "of the bandwidth, on average"),
  describe: ({ name, use, bytes, failed }) => failed ? `${name}: failed` : `${name}: ${percent(use)} of its bandwidth, ${volume(bytes)}`, columns: ["use", "bytes", "messages"] };

/** The picture of the network; null if its links do not say where they are. */
const linksPicture = (data, network, { what, bar, describe, columns } = USE_WORDS) => {
  const { result, origin } = data;
  // Planes with failed links are drawn even if no rank is there.
  const failed = network.filter((one) => one.failed).map(({ name }) => hostOf(name)).filter((host) => host !== null);
  const shape = machineShape({ ...data, origin: { ...origin, hosts: [...origin.hosts, ...failed] } });
  const isGrid = shape.isGrid && network.some(({ name }) => gridLink(name));
  if (!isGrid && !network.some(({ name }) => linkEnds(name))) return null;
  const tree = isGrid ? null : levels(network);
  if (tree) tree.hasArcs = network.some((one) => isArc(tree.place, one));
  const directions = isGrid ? gridDirections(network) : [];
  const tall = (width) => isGrid ? Math.ceil(gridPanels(shape, directions.length, width).height) + 4 : Math.min(380, 90 + 80 * tree.rows.length) + (tree.hasArcs ? 60 : 0);
  const planes = shape.groups.length > 1 ? `; x to the right, y down, a block for each of ${shape.groups.length} planes from ${shape.groups[0].name}` : "";
  const made = chart({ id: "links", title: isGrid ? `${what} of the links that leave each host, by direction${planes}`
    : `${what} of the links between hosts, at the bottom, and ${tree.rows.some((row) => row[0].startsWith("router")) ? "routers" : "switches"}${network.length > MOST_LINES ? `; ${count(MOST_LINES)} of ${count(network.length)}` : ""}`, label: `${what} of the links of a ${result.network.topology}`,
    height: (width) => tall(width) + SCALE_HEIGHT,
    csv: () => [["link", ...columns], ...data.links.map((one) => [one.name, ...columns.map((column) => one[column])])],
    draw: (context, width) => {
      if (isGrid) drawGrid(context, width, shape, directions); else drawLevels(context, width, tall(width), tree, network);
      bar(context, tall(width), width);
    } });
  const byPlace = new Map(network.map(({ name }, which) => [gridLink(name), which]).filter(([found]) => found)
    .map(([found, which]) => [`${found.host} ${directionName(found)}`, which]));
  /** The link in the cell at a place of the picture; -1 if there is none. */
  const inCell = (left, high) => {
    const { cell, plane } = gridPanels(shape, directions.length, made.canvas.clientWidth);
    for (const [panel, [direction]] of directions.entries()) {
      for (const [which, { cells }] of shape.groups.entries()) {
        const { x, y } = plane(panel, which);
        const [column, row] = [Math.floor((left - x) / cell), Math.floor((high - y) / cell)];
        if (column < 0 || row < 0 || column >= shape.across || row >= shape.down) continue;
        return byPlace.get(`${cells[row * shape.across + column]} ${direction}`) ?? -1;
      }
    }
    return -1;
  };
  /** The link whose curve passes a place; -1 if none is near. */
  const atCurve = (left, high) => {
    const near = tree.curves.reduce((best, curve) => {
      const far = distance(curve, left, high);
      return far < best.far ? { far, one: curve.one } : best;
    }, { far: 8, one: null });
    return network.indexOf(near.one);
  };
  inspect(made, () => ({ columns: network.length, rows: 1, x: 0, y: 0, width: made.canvas.clientWidth, height: made.canvas.clientHeight }),
    (which) => describe(network[which]), isGrid ? inCell : atCurve);
  return made.figure;
};

/** The number of links whose load is drawn over time. */
const MOST_LOADS = 16;

const loadsChart = (data) => {
  const { loads, result } = data;
  const end = result.simulated_time;
  const rowHeight = 15;
  const order = new Map(data.links.map(({ name }, which) => [name, which]));
  const shown = loads.filter((load) => !isInsideHost(load)).sort((one, other) => order.get(one.name) - order.get(other.name)).slice(0, MOST_LOADS)
    .map(({ name, samples }) => ({ name, samples: samples.map(([begin, load]) => [begin, load]) }));
  if (shown.length === 0) return null;
  measuring.font = FONT;
  const short = (name) => name.replace(/\b(?:router|switch|node)-/g, "").replace(" to ", " → ");
  const long = (names) => 10 + largest(names.map((name) => measuring.measureText(name).width));
  const isShort = (width) => long(shown.map(({ name }) => name)) > width * 0.4;
  const margin = (width) => Math.min(width * 0.4, long(shown.map(({ name }) => isShort(width) ? short(name) : name)));
  let last = 800;
  const made = chart({ id: "loads", title: `The busiest links over time${result.network.model === "packet" ? ", if packets took the routes of an empty network" : ""}`,
    label: "Load of the busiest links over time; arrow keys go from link to link and through time",
    height: shown.length * rowHeight + AXIS + SCALE_HEIGHT,
    csv: () => [["link", "from (s)", "load (%)"], ...loads.flatMap(({ name, samples }) => samples.map(([begin, load]) => [name, begin * 1e-9, load]))],
    draw: (context, width) => {
      last = width;
      const left = margin(width);
      const [across, tall] = [width - left, shown.length * rowHeight];
      const paint = ramp();
      context.font = FONT;
      context.textAlign = "left";
      context.textBaseline = "middle";
      shown.forEach(({ name, samples }, row) => {
        context.fillStyle = color("ink");
        context.fillText(fitted(context, isShort(width) ? short(name) : name, left - 8), 0, (row + 0.5) * rowHeight);
        samples.forEach(([begin, load], place) => {
          const until = place + 1 < samples.length ? samples[place + 1][0] * 1e-9 : end;
          context.fillStyle = css(paint(load / 100));
          context.fillRect(left + begin * 1e-9 / end * across, row * rowHeight, Math.max(0.5, (until - begin * 1e-9) / end * across + 0.3), rowHeight - 1);
        });
      });
      context.fillStyle = color("faint");
      context.textBaseline = "top";
      for (const [at, text] of timeMarks(0, end, Math.max(2, across / 120))) {
        const x = left + at / end * across;
        context.textAlign = x < left + 20 ? "left" : x > width - 24 ? "right" : "center";
        context.fillText(text, x, tall + 4);
      }
      colorBar(context, tall + AXIS, width, `0${SPACE}%`, `100${SPACE}%`, "of the bandwidth");
    } });
  const columns = 200;
  inspect(made, () => ({ columns, rows: shown.length, x: margin(last), y: 0, width: last - margin(last), height: shown.length * rowHeight }), (column, row) => {
    const when = (column + 0.5) / columns * end;
    const { name, samples } = shown[row];
    const at = lastUntil(samples.map(([begin]) => begin * 1e-9), when);
    return `${name} at ${time(when)}: ${at < 0 ? 0 : digits(samples[at][1])}${SPACE}% of its bandwidth`;
  });
  return made.figure;
};

const MOST_FAILURES = 8;

const addLinks = (data) => {
  const links = data.links.map(({ name, use, bytes, messages }) => ({ name, use, bytes, messages }));
  if (links.length === 0) return;
  const { failures, failed } = data.origin;
  const network = links.filter((one) => !isInsideHost(one));
  const inside = links.filter(isInsideHost);
  const drawn = [...network, ...failed.map((name) => ({ name, use: 0, bytes: 0, messages: 0, failed: true }))];
  const columns = [{ name: "link", kind: "text", value: ({ name }) => name }, { name: "use", kind: "percent", value: ({ use }) => use },
    { name: "payload", kind: "bytes", value: ({ bytes }) => bytes }, { name: data.result.network.model === "packet" ? "packets" : "messages", kind: "count", value: ({ messages }) => messages }];
  section("links", "Where: links",
    element("p", {}, network.length ? `The busiest link of the network, ${network[0].name}, carried ${percent(network[0].use)} of what it can.`
      : "No message left its host."),
    failures.length ? element("p", {}, `Failures: ${unbroken(failures.slice(0, MOST_FAILURES).join("; ").replaceAll("`", ""))}${failures.length > MOST_FAILURES ? "; …" : ""}. ` +
      (failed.length ? `${counted(failed.length, "link has", "links have")} failed from the start, with both directions of each cable: dashed or crossed.` : "")) : null,
    row(network.length ? linksPicture(data, drawn) : null, loadsChart(data)),
    row(network.length ? table("busiest-links", columns, network, "Links of the network") : null,
      inside.length ? table("links-inside-hosts", columns, inside, "Links inside hosts") : null));
};
