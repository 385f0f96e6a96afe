// A flame graph: the time of call sites, each above those that it was called from.

/** The frames of `rows` of a call site and its time, each as {name, value, from, depth}. */
const framesOf = (rows) => {
  const frame = (name) => ({ name, value: 0, inner: new Map() });
  const root = frame("");
  for (const [site, seconds] of rows) {
    let below = root;
    root.value += seconds;
    for (const name of site.split(" < ").reverse()) {
      if (!below.inner.has(name)) below.inner.set(name, frame(name));
      below = below.inner.get(name);
      below.value += seconds;
    }
  }
  const found = [];
  const place = ({ inner }, begin, depth) => {
    let from = begin;
    for (const { name, value, inner: above } of [...inner.values()].sort((one, other) => other.value - one.value)) {
      found.push({ name, value, from, depth });
      place({ inner: above }, from, depth + 1);
      from += value;
    }
  };
  place(root, 0, 0);
  return { found, whole: root.value };
};

const FRAME = 20;
/** The flame graph of rows of a call site and its time; null if no call site is known. */
const flameChart = (id, title, rows) => {
  const { found, whole } = framesOf(rows.filter(([site, seconds]) => site && seconds > 0));
  if (found.length < 2) return null;
  const high = 1 + largest(found.map(({ depth }) => depth));
  const made = chart({ id, title, label: `${title}; arrow keys go from frame to frame`, height: high * FRAME,
    csv: () => [["depth", "place", "time (s)"], ...found.map(({ name, value, depth }) => [depth, name, value])],
    draw: (context, width) => found.forEach(({ name, value, from, depth }) => {
      const [x, long, y] = [from / whole * width, value / whole * width, (high - 1 - depth) * FRAME];
      context.fillStyle = color("ramp-1");
      context.fillRect(x, y, Math.max(0.5, long - 1), FRAME - 1);
      if (long < 30) return;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillStyle = color("ink");
      context.fillText(fitted(context, name, long - 8), x + 4, y + FRAME / 2);
    }) });
  inspect(made, () => ({ columns: found.length, rows: 1, x: 0, y: 0, width: made.canvas.clientWidth, height: high * FRAME }), (which) =>
    `${found[which].name}: ${time(found[which].value)} (${percent(found[which].value / whole)})`, (x, y) => {
    const at = x / made.canvas.clientWidth * whole;
    return found.findIndex(({ from, value, depth }) => at >= from && at < from + value && depth === high - 1 - Math.floor(y / FRAME));
  });
  return made.figure;
};
