// Who sends to whom, and how much the busiest links carry as time goes by.

const addMatrix = (data) => {
  const { matrix, result } = data;
  const { groups, ranks_per_group: each, cells } = matrix;
  if (cells.length === 0) return;
  const places = new Map(cells.map(([from, to, messages, bytes]) => [from * groups + to, [messages, bytes]]));
  let which = 1;
  let side = 1;
  const name = (group) => {
    const last = Math.min((group + 1) * each, result.ranks) - 1;
    return last > group * each ? `ranks ${group * each}–${last}` : `rank ${group}`;
  };
  const output = element("output");
  const scale = element("p", { class: "faint" });
  const made = chart("Communication matrix: senders from top to bottom, receivers from left to right; arrow keys go from cell to cell",
    (width) => Math.min(width, 560),
    (context, width, height) => {
      side = Math.min(width, height);
      const cell = side / groups;
      const most = cells.reduce((max, entry) => Math.max(max, entry[2 + which]), 0);
      const paint = ramp();
      context.fillStyle = color("panel");
      context.fillRect(0, 0, side, side);
      for (const entry of cells) {
        // Small volumes are to be seen beside large ones.
        context.fillStyle = css(paint(0.15 + 0.85 * Math.sqrt(entry[2 + which] / (most || 1))));
        context.fillRect(entry[1] * cell, entry[0] * cell, Math.max(1, cell - (cell > 8 ? 1 : 0)), Math.max(1, cell - (cell > 8 ? 1 : 0)));
      }
      scale.textContent = `Senders from top to bottom, receivers from left to right, at most ${which ? volume(most) : `${count(most)} messages`} in a cell` +
        (each > 1 ? `; each row and column is ${each} ranks.` : ".");
    }, { id: "matrix-chart" });
  inspect(made, output, () => ({ columns: groups, rows: groups, x: 0, y: 0, width: side, height: side }), (to, from) => {
    const [messages, bytes] = places.get(from * groups + to) || [0, 0];
    return `from ${name(from)} to ${name(to)}: ${count(messages)} messages, ${volume(bytes)}`;
  });
  const top = [...cells].sort((one, other) => other[3] - one[3]).slice(0, 10);
  section("matrix", "Messages",
    element("div", { class: "controls" }, choice("Shown:", ["bytes", "messages"], (chosen) => {
      which = chosen === "bytes" ? 1 : 0;
      made.redraw();
    })),
    element("div", { class: "pair" },
      element("div", {}, element("div", { class: "chart" }, made.canvas), scale, output),
      table(["from", "to", "messages", "bytes"], top.map(([from, to, messages, bytes]) =>
        [name(from), name(to), count(messages), volume(bytes)]), "The most bytes")));
};

const addLoads = (data, into) => {
  const { loads, result } = data;
  if (loads.length === 0) return;
  const end = result.simulated_time;
  const rowHeight = 14;
  let last = 800;
  const margin = 150;
  const output = element("output");
  const made = chart("Load of the busiest links over time; arrow keys go from link to link and through time",
    () => loads.length * rowHeight,
    (context, width) => {
      last = width;
      const paint = ramp();
      context.textBaseline = "middle";
      loads.forEach(({ name, samples }, row) => {
        context.fillStyle = color("faint");
        context.fillText(name.replace(/, % of bandwidth$/, ""), 0, (row + 0.5) * rowHeight, margin - 8);
        samples.forEach(([begin, load], place) => {
          const until = place + 1 < samples.length ? samples[place + 1][0] : end;
          context.fillStyle = css(paint(load / 100));
          const x = margin + begin / end * (width - margin);
          context.fillRect(x, row * rowHeight, Math.max(0.5, (until - begin) / end * (width - margin) + 0.3), rowHeight - 1);
        });
      });
    }, { id: "loads-chart" });
  const columns = 200;
  inspect(made, output, () => ({ columns, rows: loads.length, x: margin, y: 0, width: last - margin, height: loads.length * rowHeight }),
    (column, row) => {
      const when = (column + 0.5) / columns * end;
      const { name, samples } = loads[row];
      const at = lastUntil(samples.map(([begin]) => begin), when);
      return `${name.replace(/, % of bandwidth$/, "")} at ${time(when)}: ${at < 0 ? 0 : samples[at][1]} % of its bandwidth`;
    });
  into.append(element("h3", {}, "The busiest links over time"),
    element("p", { class: "faint" }, "A message is taken to cross its route at an even pace from when it leaves until it arrives."),
    element("div", { class: "chart" }, made.canvas), output);
};
