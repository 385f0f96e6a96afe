// The page of a machine without a program.

const rate = (value) => `${volume(value)}/s`;

/** The quantities that a host can be coloured by: the links that leave it, and their bandwidth. */
const hostQuantities = ({ summary, links }) => {
  const [leaving, bandwidths] = [new Array(summary.hosts).fill(0), new Array(summary.hosts).fill(0)];
  for (const { name, bandwidth, failed } of links) {
    const host = hostOf(name);
    if (failed || host === null || isInsideHost({ name })) continue;
    leaving[host] += 1;
    bandwidths[host] += bandwidth;
  }
  return [["bandwidth into the network", bandwidths, rate], ["links into the network", leaving, count]];
};

/** The picture of the links of a machine by their bandwidth; null if their names do not say where they are. */
const bandwidthPicture = (machine) => {
  const bandwidths = machine.links.map(({ bandwidth }) => bandwidth);
  const most = largest(bandwidths);
  const differ = bandwidths.some((bandwidth) => bandwidth !== most);
  const failed = machine.links.some((one) => one.failed) ? "; failed links are dashed or crossed" : "";
  const oneRate = (context, y) => {
    context.font = FONT;
    context.fillStyle = color("faint");
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(`${rate(most)} each${failed}`, 0, y + 6);
  };
  return linksPicture(machine, machine.links.map((one) => ({ ...one, use: differ ? one.bandwidth / most : 0.4 })), { what: "Bandwidth",
    bar: differ ? (context, y, width) => colorBar(context, y, width, rate(0), rate(most), `bandwidth${failed}`) : oneRate,
    describe: ({ name, bandwidth, failed: isFailed }) => `${name}: ${isFailed ? "failed" : rate(bandwidth)}`, columns: ["bandwidth", "latency", "failed"] });
};

/** The switches and the hosts of each, in groups by the first part of their names: counts in place of 4,096 cells. */
const addGroups = (shape, topology, links) => {
  const titleOf = (key) => topology.startsWith("dragonfly") ? key.replace("router-", "group ") : isOneLevel ? key : `${key}.*`;
  const byName = ({ name }) => groupOf(name);
  // Switches of one level are in groups by the first switch above them.
  const above = new Map();
  for (const ends of links.map(({ name }) => linkEnds(name)).filter((ends) => ends && ends.every((end) => hostNumber(end) === null))) {
    for (const [one, other] of [ends, [...ends].reverse()]) if (!above.has(one)) above.set(one, other);
  }
  const isOneLevel = new Set(shape.groups.map(byName)).size === 1;
  const groups = grouped(shape.groups, (group) => isOneLevel ? `below ${above.get(group.name)}` : byName(group), ({ cells }) => cells.length);
  groups.sort((one, other) => one.rows[0].cells[0] - other.rows[0].cells[0]);
  const most = largest(groups.map(({ rows }) => rows.length));
  const across = Math.ceil(Math.sqrt(most));
  const down = Math.ceil(most / across);
  const layout = (width) => tiled(groups.length, across, down, width, 600, 40, LABEL);
  const place = ({ tile, cell }, which, inner) => {
    const { x, y } = tile(which);
    return [x + inner % across * cell, y + LABEL + Math.floor(inner / across) * cell];
  };
  const made = chart({ id: "hosts", title: "Hosts of the machine: each cell is a switch and has the number of its hosts", label: "Switches in groups, with the number of their hosts",
    height: (width) => Math.ceil(layout(width).height) + 4, csv: () => [["group", "switch", "hosts"],
      ...groups.flatMap(({ key, rows }) => rows.map(({ name, cells }) => [key, name, cells.length]))],
    draw: (context, width) => {
      const tiles = layout(width);
      groups.forEach(({ key, rows, value }, which) => {
        const { x, y } = tiles.tile(which);
        context.fillStyle = color("faint");
        context.textAlign = "left";
        context.textBaseline = "top";
        const text = [`${titleOf(key)}: ${counted(value, "host", "hosts")}`, titleOf(key), `${isOneLevel ? "below " : ""}${key.replace(/^\D+/, "")}`].find((one) => context.measureText(one).width < across * tiles.cell);
        if (text) context.fillText(text, x, y);
        rows.forEach(({ cells }, inner) => {
          const [left, top] = place(tiles, which, inner);
          context.fillStyle = color("ramp-1");
          context.fillRect(left, top, tiles.cell - 1, tiles.cell - 1);
          context.fillStyle = color("ink");
          context.textAlign = "center";
          if (tiles.cell > 17) context.fillText(cells.length, left + tiles.cell / 2, top + tiles.cell / 2 - 5);
        });
      });
    } });
  const all = groups.flatMap(({ rows }, which) => rows.map(({ name, cells }, inner) => ({ name, cells, which, inner })));
  inspect(made, () => ({ columns: all.length, rows: 1, x: 0, y: 0, width: made.canvas.clientWidth, height: made.canvas.clientHeight }),
    (which) => `${all[which].name}: ${counted(all[which].cells.length, "host", "hosts")} (${ranges(all[which].cells)})`, (x, y) => {
      const tiles = layout(made.canvas.clientWidth);
      return all.findIndex(({ which, inner }) => {
        const [left, top] = place(tiles, which, inner);
        return x >= left && x < left + tiles.cell && y >= top && y < top + tiles.cell;
      });
    });
  section("hosts", "Where: hosts", made.figure);
};

drawPage(async () => {
  const data = await readData();
  const { summary, facts, links, names, version } = data;
  nameHosts(names);
  document.title = `${summary.topology} – titr`;
  document.getElementById("title").textContent = summary.topology;
  fileName = "platform";
  const kept = new Map();
  for (const [name, what] of facts) (kept.get(name) || kept.set(name, []).get(name)).push(what);
  section("answer", "Machine", element("dl", {}, [...kept].map(([name, all]) => [element("dt", {}, name), element("dd", {}, unbroken(all.join(", ")))]))).classList.add("first");
  const hosts = Array.from({ length: summary.hosts }, (_, host) => host);
  const network = { topology: summary.topology, hosts: summary.hosts };
  const machine = { origin: { hosts }, links, result: { ranks: summary.hosts, hosts_used: summary.hosts, network } };
  const shape = machineShape(machine);
  const isLarge = shape.groups.length > MOST_LABELS;
  const latency = summary.packets && !summary.packets.has_latencies ? [] : [{ name: "latency", kind: "time", value: ({ latency: seconds }) => seconds }];
  const bandwidth = { name: "bandwidth", kind: "rate", value: ({ bandwidth: number }) => number };
  section("links", "Links", isLarge ? null : bandwidthPicture(machine), row(table("classes", [
    { name: "class", kind: "text", value: ({ class: name }) => name || "links" },
    { name: "links", kind: "count", value: ({ links: number }) => number }, bandwidth, ...latency,
  ], summary.links, "Links by their class"), table("links", [
    { name: "link", kind: "text", value: ({ name }) => name }, bandwidth, ...latency,
    { name: "state", kind: "text", value: ({ failed }) => failed ? "failed" : "" },
  ], [...links].sort((one, other) => other.failed - one.failed), "All links")));
  if (isLarge) addGroups(shape, summary.topology, links); else addMachine(machine, hostQuantities(data),
    { first: (quantities) => [...quantities], id: "hosts", section: "Where: hosts", title: "Hosts of the machine", one: (_, host) => host, csv: "number" });
  const warnings = [...summary.findings, ...summary.warnings];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${version}`;
});
