// Who sends to whom, and how large the messages are.

const addMessages = (data) => {
  const { matrix, result } = data;
  const { groups, ranks_per_group: each, sizes } = matrix;
  const cells = matrix.cells.map(([from, to, messages, bytes]) => [from, to, messages, bytes]);
  if (cells.length === 0) return;
  const places = new Map(cells.map(([from, to, messages, bytes]) => [from * groups + to, [messages, bytes]]));
  let which = 1;
  let side = 1;
  const name = (group) => {
    const last = Math.min((group + 1) * each, result.ranks) - 1;
    return last > group * each ? `ranks ${group * each}–${last}` : `rank ${group}`;
  };
  const show = (value) => which ? volume(value) : counted(value, "message", "messages");
  const made = chart({ id: "matrix",
    title: "Senders from top to bottom, receivers from left to right" + (each > 1 ? `; a cell is ${each} × ${each} ranks` : ""),
    label: "Communication matrix: senders from top to bottom, receivers from left to right; arrow keys go from cell to cell",
    height: (width) => Math.min(width, 440, 60 * groups) + SCALE_HEIGHT,
    csv: () => [["from", "to", "messages", "bytes"], ...cells.map(([from, to, messages, bytes]) => [name(from), name(to), messages, bytes])],
    draw: (context, width, height) => {
      side = Math.min(width, height - SCALE_HEIGHT);
      const cell = side / groups;
      const most = largest(cells.map((entry) => entry[2 + which]));
      const paint = ramp();
      context.fillStyle = color("panel");
      context.fillRect(0, 0, side, side);
      for (const entry of cells) {
        // Small volumes stay visible beside large ones.
        context.fillStyle = css(paint(Math.max(0.2, Math.sqrt(entry[2 + which] / (most || 1)))));
        context.fillRect(entry[1] * cell, entry[0] * cell, Math.max(1, cell - (cell > 8 ? 1 : 0)), Math.max(1, cell - (cell > 8 ? 1 : 0)));
      }
      colorBar(context, side, width, show(0), show(most), "square-root scale");
    } });
  inspect(made, () => ({ columns: groups, rows: groups, x: 0, y: 0, width: side, height: side }), (to, from) => {
    const [messages, bytes] = places.get(from * groups + to) || [0, 0];
    return `from ${name(from)} to ${name(to)}: ${counted(messages, "message", "messages")}, ${volume(bytes)}`;
  });
  const all = sum(sizes.map((entry) => entry[1]));
  const power = (binary) => `${2 ** (binary % 10)}${SPACE}${["B", "KiB", "MiB", "GiB", "TiB"][Math.floor(binary / 10)]}`;
  const size = (binary) => binary === null ? "other sizes" : binary === 0 ? "empty" : binary === 1 ? power(0) : `${power(binary - 1)} – ${power(binary)}`;
  const bytes = sum(sizes.map((entry) => entry[2]));
  // A size matters if many messages have it, or if it carries many of the bytes.
  const weight = ([, messages, carried]) => messages / all + carried / (bytes || 1);
  const byWeight = [...sizes].sort((one, other) => weight(other) - weight(one));
  const most = byWeight.slice(0, 8).sort((one, other) => one[0] - other[0]);
  const rest = byWeight.slice(8);
  if (rest.length) most.push([null, ...[1, 2].map((part) => sum(rest.map((entry) => entry[part])))]);
  const histogram = barChart({ id: "sizes", title: `Sizes of the ${counted(all, "message", "messages")}`, label: "Number of messages by size", whole: all,
    rows: most.map(([binary, messages, carried]) => ({ name: size(binary), value: messages, carried,
      text: `${percent(messages / all)}, ${percent(carried / (bytes || 1))} of bytes`,
      parts: [["amount", messages]] })),
    tell: ({ name: what, value, carried }) => `${what}: ${counted(value, "message", "messages")} with ${volume(carried)}`,
    csv: () => [["smallest size (B)", "messages", "bytes"],
      ...sizes.map(([binary, messages, carried]) => [binary ? 2 ** (binary - 1) : 0, messages, carried])] });
  section("messages", "Messages",
    element("div", { class: "controls" }, choice("Shown:", ["bytes", "messages"], (chosen) => {
      which = chosen === "bytes" ? 1 : 0;
      made.redraw();
    })), row(made.figure, histogram.figure));
};
