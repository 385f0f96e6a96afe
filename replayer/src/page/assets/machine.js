// Where: the ranks on the machine in its own shape, coloured by what they spend time on or by the links of their hosts; or its
// hosts alone.

/** The quantities that a rank can be coloured by: [name, value of each rank, how a value is written]. */
const rankQuantities = ({ result, origin, links }) => {
  const { per_rank: ranks, analyses } = result;
  const all = timeParts(result).map(({ name, key }) => [name, ranks.map((shares) => partOf(result, shares, key)), time]);
  const found = (name, rows, valueOf) => {
    const values = new Array(ranks.length).fill(0);
    for (const row of rows) values[row.rank] = valueOf(row);
    if (values.some((value) => value > 0)) all.push([name, values, time]);
  };
  all.push(["finish", ranks.map(({ finish }) => finish), time]);
  if (analyses && analyses["wait-states"]) {
    found("waiting of others because of the rank", analyses["wait-states"].ranks, ({ direct, indirect }) => direct + indirect);
  }
  if (analyses && analyses["critical-path"]) found("time on the critical path", analyses["critical-path"].ranks, ({ seconds }) => seconds);
  const use = new Map();
  for (const one of links.filter((one) => !isInsideHost(one))) {
    for (const host of [hostOf(one.name), hostNumber((linkEnds(one.name) || ["", ""])[1])]) {
      if (host !== null) use.set(host, Math.max(use.get(host) || 0, one.use));
    }
  }
  if (use.size) all.push(["busiest link of the host", origin.hosts.map((host) => use.get(host) || 0), percent]);
  return all;
};

/** What the ranks of a result are called, and which quantities come first; the hosts of a machine without a program have others. */
const RANK_WORDS = { first: (quantities) => quantities.filter(([, , written]) => written === time).slice(0, 6), id: "ranks", section: "Where: ranks", title: "Ranks on the machine", one: (rank, host) => `rank ${rank} on ${host}`, csv: "rank" };

/** Pixels of a cell that has room for a number. */
const ROOM_FOR_NUMBER = 28;

/** Blocks that have room for their names. */
const MOST_LABELS = 64;

const addMachine = (data, quantities = rankQuantities(data), words = RANK_WORDS) => {
  const { origin, result } = data;
  if (result.ranks < 2) return;
  const shape = machineShape(data);
  const ranksOf = new Map();
  origin.hosts.forEach((host, rank) => (ranksOf.get(host) || ranksOf.set(host, []).get(host)).push(rank));
  const cores = largest([...ranksOf.values()].map((ranks) => ranks.length));
  // The ranks of a host share its cell.
  const inner = Math.ceil(Math.sqrt(cores));
  // Where the ranks differ most is worth a look first.
  const spread = ([, values]) => (largest(values) - values.reduce((min, value) => Math.min(min, value), Infinity)) * (values.length ? 1 : 0);
  let [name, values, show] = words.first(quantities).sort((one, other) => spread(other) - spread(one))[0];
  const hasLabels = shape.groups.length <= MOST_LABELS && shape.groups.some((group) => group.name);
  const layout = (width) => tiled(shape.groups.length, shape.across, shape.down, width, 420, 44 * inner, hasLabels ? LABEL : 0);
  let last = layout(800);
  const made = chart({ id: words.id, title: words.title, label: `${words.title} by a quantity; arrow keys go from one to the next`,
    height: (width) => Math.ceil(layout(width).height) + SCALE_HEIGHT + 4,
    csv: () => [[words.csv, "host", ...quantities.map(([quantity, , written]) => quantity + (written === time ? " (s)" : ""))],
      ...origin.hosts.map((host, rank) => [rank, host, ...quantities.map((quantity) => quantity[1][rank])])],
    draw: (context, width, height) => {
      last = layout(width);
      const { cell, tile, label } = last;
      const [least, most] = [values.reduce((min, value) => Math.min(min, value), Infinity), largest(values)];
      const paint = ramp();
      const gap = cell > 12 ? 2 : cell > 6 ? 1 : 0;
      const side = (cell - gap) / inner;
      shape.groups.forEach((group, which) => {
        const { x, y } = tile(which);
        context.font = FONT;
        context.textAlign = "left";
        context.textBaseline = "top";
        context.fillStyle = color("faint");
        if (label) context.fillText(fitted(context, group.name, shape.across * cell + GAP), x, y);
        group.cells.forEach((host, place) => {
          const [left, top] = [x + place % shape.across * cell, y + label + Math.floor(place / shape.across) * cell];
          const ranks = ranksOf.get(host) || [];
          if (ranks.length === 0) {
            context.fillStyle = color("line");
            context.fillRect(left + cell * 0.4, top + cell * 0.4, Math.max(1, cell * 0.12), Math.max(1, cell * 0.12));
          }
          ranks.forEach((rank, core) => {
            const part = most > least ? (values[rank] - least) / (most - least) : 0.25;
            context.fillStyle = css(paint(part));
            const fine = side > 8 && inner > 1 ? 1 : 0;
            const [begin, high] = [left + core % inner * side, top + Math.floor(core / inner) * side];
            context.fillRect(begin, high, side - fine, side - fine);
            if (side < ROOM_FOR_NUMBER) return;
            context.fillStyle = color(part > 0.62 ? "paper" : "ink");
            context.textAlign = "center";
            context.fillText(rank, begin + side / 2, high + side / 2 - 6);
          });
        });
      });
      if (most > least) return colorBar(context, height - SCALE_HEIGHT, width, show(least), show(most), name);
      context.fillStyle = color("faint");
      context.textAlign = "left";
      context.fillText(`${name}: each ${show(most)}`, 0, height - SCALE_HEIGHT + 4);
    } });
  /** The rank at a place of the picture; the arrow keys go through the ranks in the order of their numbers. */
  const tell = (rank) => {
    const parts = quantities.filter(([, all]) => all[rank] > 0).map(([quantity, all, written]) => `${quantity} ${written(all[rank])}`);
    return `${words.one(rank, shape.hostName(origin.hosts[rank]))}: ${parts.join(", ")}`;
  };
  let current = 0;
  const placeOf = new Map(shape.groups.flatMap(({ cells }, which) => cells.map((host, place) => [host, [which, place]])));
  /** Says what a rank is, at the pointer or at its cell. */
  const tellRank = (rank, left, top) => {
    current = Math.min(result.ranks - 1, Math.max(0, rank));
    const [which, place] = placeOf.get(origin.hosts[current]);
    const { cell, tile, label } = last;
    made.tell(tell(current), left ?? tile(which).x + (place % shape.across + 0.5) * cell,
      top ?? tile(which).y + label + (Math.floor(place / shape.across) + 0.5) * cell);
    made.canvas.dataset.rank = current;
  };
  made.canvas.addEventListener("pointermove", (event) => {
    const { cell, tile, label } = last;
    shape.groups.forEach((group, which) => {
      const { x, y } = tile(which);
      const [column, row] = [(event.offsetX - x) / cell, (event.offsetY - y - label) / cell];
      const place = Math.floor(row) * shape.across + Math.floor(column);
      if (column < 0 || row < 0 || column >= shape.across || row >= shape.down || place >= group.cells.length) return;
      const core = Math.floor(row % 1 * inner) * inner + Math.floor(column % 1 * inner);
      const ranks = ranksOf.get(group.cells[place]) || [];
      if (ranks.length) tellRank(ranks[Math.min(core, ranks.length - 1)], event.offsetX, event.offsetY);
    });
  });
  made.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -shape.across * cores, ArrowDown: shape.across * cores }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    tellRank(current + step);
  });
  made.canvas.addEventListener("focus", () => tellRank(current));
  const names = [name, ...quantities.map(([quantity]) => quantity).filter((quantity) => quantity !== name)];
  const idle = result.network.hosts - result.hosts_used;
  section(words.id, words.section,
    element("div", { class: "controls" }, choice("Shown:", names, (chosen) => {
      [name, values, show] = quantities.find(([quantity]) => quantity === chosen);
      made.redraw();
    })), made.figure, element("p", { class: "faint" }, `Each ${cores > 1 ? "square of up to " + cores + " cells" : "cell"} is a host` +
      (shape.isGrid && shape.groups[0].name ? "; x to the right, y down, each block another plane"
        : shape.groups.length > 1 ? "; each block is at the same switch or router" : "") +
      (idle > 0 ? `; ${counted(idle, "host", "hosts")} without ranks ${shape.isGrid ? "are dots or left out" : "are left out"}.` : ".")));
};
