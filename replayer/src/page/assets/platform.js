// The page of a machine without a program.

const rate = (value) => `${volume(value)}/s`;

/** The quantities that a host can be coloured by: the links that leave it, and their bandwidth. */
const hostQuantities = ({ summary, links }) => {
  const [leaving, bandwidths] = [new Array(summary.hosts).fill(0), new Array(summary.hosts).fill(0)];
  for (const { name, bandwidth } of links) {
    const host = hostOf(name);
    if (host === null || host >= summary.hosts) continue;
    leaving[host] += 1;
    bandwidths[host] += bandwidth;
  }
  return [["bandwidth into the network", bandwidths, rate], ["links into the network", leaving, count]];
};

drawPage(async () => {
  const data = await readData();
  const { summary, links, version } = data;
  document.title = `${summary.topology} – titr`;
  document.getElementById("title").textContent = summary.topology;
  fileName = "platform";
  const facts = [["hosts", count(summary.hosts)], ["cores", count(summary.cores)], ["routers", summary.routers && count(summary.routers)],
    ["cables", summary.cables && count(summary.cables)], ["bisection", summary.bisection && rate(summary.bisection.bandwidth)]];
  section("answer", "Machine", element("dl", {}, facts.filter(([, value]) => value)
    .map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))).classList.add("first");
  const hosts = Array.from({ length: summary.hosts }, (_, host) => host);
  const network = { topology: summary.topology, hosts: summary.hosts };
  addMachine({ origin: { hosts }, links, result: { ranks: summary.hosts, hosts_used: summary.hosts, network } }, hostQuantities(data),
    { first: (quantities) => [...quantities], id: "hosts", section: "Where: hosts", title: "Hosts of the machine", one: (_, host) => host, csv: "number" });
  section("links", "Links", table("classes", [
    { name: "class", kind: "text", value: ({ class: name }) => name || "links" },
    { name: "links", kind: "count", value: ({ links: number }) => number },
    { name: "bandwidth per second", kind: "bytes", value: ({ bandwidth }) => bandwidth },
    { name: "latency", kind: "time", value: ({ latency }) => latency },
  ], summary.links, "Links by their class"), table("links", [
    { name: "link", kind: "text", value: ({ name }) => name },
    { name: "bandwidth per second", kind: "bytes", value: ({ bandwidth }) => bandwidth },
    { name: "latency", kind: "time", value: ({ latency }) => latency },
  ], links, "All links"));
  const warnings = [...summary.findings, ...summary.warnings];
  if (warnings.length) section("warnings", "Assumptions and limits", element("ul", { class: "warnings" }, warnings.map((warning) => element("li", {}, warning))));
  document.getElementById("footer").textContent = `titr ${version}`;
});
