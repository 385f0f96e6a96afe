// Numbers as people read them: three digits, a unit that never leaves its number, and a dash for nothing.

const SPACE = "\u00a0";
const NOTHING = "–";
const TIME_UNITS = [["s", 1], ["ms", 1e3], ["µs", 1e6], ["ns", 1e9], ["ps", 1e12]];
const BYTE_UNITS = [["EB", 1e-18], ["PB", 1e-15], ["TB", 1e-12], ["GB", 1e-9], ["MB", 1e-6], ["kB", 1e-3], ["B", 1]];

const count = (number) => Math.round(number).toLocaleString("en-US");

/** Three digits. */
const digits = (value) => {
  const size = Math.abs(value);
  if (size >= 99.95) return count(value);
  return size === 0 ? "0" : value.toFixed(size >= 9.995 ? 1 : size >= 0.9995 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(size))));
};

/** The first unit in which a size is at least one. */
const unitOf = (units, size) => units.find(([, factor]) => size * factor >= 0.9995) || units[units.length - 1];

const inUnits = (units, zero) => (value) => {
  if (value === 0) return zero;
  const [unit, factor] = unitOf(units, Math.abs(value));
  return `${value < 0 ? "−" : ""}${digits(Math.abs(value * factor))}${SPACE}${unit}`;
};
const time = inUnits(TIME_UNITS, `0${SPACE}s`);
const volume = inUnits(BYTE_UNITS, `0${SPACE}B`);

const percent = (share) => {
  const value = 100 * share;
  const size = Math.abs(value);
  if (size > 0 && size < 0.005) return `below 0.01${SPACE}%`;
  // What is not all is never written as all.
  const decimals = size === 0 || (size >= 9.95 && !(size >= 99.5 && size < 99.95)) ? 0 : size >= 0.995 ? 1 : 2;
  return `${value < 0 ? "−" : ""}${size.toFixed(decimals)}${SPACE}%`;
};

/** A number and its noun. */
const counted = (number, one, many) => `${count(number)}${SPACE}${number === 1 ? one : many}`;

/** The rank of a row that stands for several. */
const OTHERS = 0xffffffff;

/** The numbers of ranks, as few words as possible: `0–7, 12`. */
const ranges = (ranks, most = 4) => {
  const sorted = [...new Set(ranks)].filter((rank) => rank !== OTHERS).sort((one, other) => one - other);
  const parts = [];
  for (const rank of sorted) {
    const last = parts[parts.length - 1];
    if (last && last[1] === rank - 1) last[1] = rank; else parts.push([rank, rank]);
  }
  const texts = parts.slice(0, most).map(([first, last]) => first === last ? `${first}` : `${first}–${last}`);
  return texts.join(", ") + (parts.length > most ? ", …" : "");
};

/** Round numbers between two others, about as many as requested. */
const ticks = (from, to, about) => {
  const raw = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) || raw;
  const all = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) all.push(tick);
  // An axis with a single mark has no scale.
  return all.length < 2 && to > from && about < 8 ? ticks(from, to, about + 1) : { all, step };
};

/** Marks of an axis of time: their places in seconds, and their texts, all in one unit. */
const timeMarks = (from, to, about) => {
  const { all, step } = ticks(from, to, about);
  const [unit, factor] = unitOf(TIME_UNITS, Math.max(Math.abs(from), Math.abs(to)));
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * factor) + 1e-9)));
  return all.map((at) => [at, `${(at * factor).toFixed(decimals)}${SPACE}${unit}`]);
};

/** The function or library of a call site, without the calls that led there. */
const shortSite = (site) => {
  const innermost = site.split(" < ")[0];
  const unnamed = /^(.*)\+0x[0-9a-f]+$/.exec(innermost);
  return unnamed ? `${unnamed[1]} (no function names)` : innermost;
};

/** A place in the program. */
const placeName = ({ region, call_site: site }) =>
  [site ? shortSite(site) : null, region ? `region ${region}` : null].filter((part) => part).join(", ");

const KINDS = { compute: "computation", sleep: "computation of a fixed time", overhead: "software overhead of messages", latency: "latency of messages", transfer: "bytes of messages",
  contention: "messages that share links", storage: "access to files", other: "other" };
const kindName = (kind) => KINDS[kind] || kind;

/** The kind and the place of a cause, and the other job whose messages it is due to. */
const causeName = (cause) => [kindName(cause.kind) + (cause.with ? ` with messages of ${cause.with}` : ""), placeName(cause)]
  .filter((part) => part).join(" in ");

/** A sentence whose numbers keep their units, as the page writes them. */
const unbroken = (text) => text.replace(/(\d) us\b/g, "$1 µs")
  .replace(/(\d|\b1 x) (%|x\b|recorded\b|[nm]?s\b|µs|[kMGT]?(?:B|bit)(?:\/s)?\b|Ginstr\/s)/g, `$1${SPACE}$2`);

const words = (name) => name.replaceAll("_", " ").replaceAll("-", " ");
const titled = (name) => words(name).replace(/^./, (letter) => letter.toUpperCase());
