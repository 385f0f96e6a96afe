// What all parts of the page share: elements, numbers for people, colours, and charts on canvases.

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    // The page's policy allows no style attributes.
    else if (key === "style") made.style.cssText = value;
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

/** The object that stands compressed in the page. */
const readData = async () => {
  const letters = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(inflated).text());
};

const count = (number) => Math.round(number).toLocaleString("en-US");

const digits = (value) => {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3);
};

/** Seconds in the unit that leaves at least one digit before the point. */
const time = (seconds) => {
  if (seconds === 0) return "0 s";
  for (const [unit, factor] of [["s", 1], ["ms", 1e3], ["µs", 1e6], ["ns", 1e9]]) {
    if (Math.abs(seconds) * factor >= 1) return `${digits(seconds * factor)} ${unit}`;
  }
  return `${(seconds * 1e12).toFixed(0)} ps`;
};

const volume = (bytes) => {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB", "TB", "PB"]) {
    if (value < 999.5) return unit === "B" ? `${value} B` : `${value.toPrecision(3)} ${unit}`;
    value /= 1000;
  }
  return `${value.toPrecision(3)} EB`;
};

const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A table: names of columns, and rows of texts or elements. */
const table = (columns, rows, caption) =>
  element("div", { class: "scroll" }, element("table", {},
    caption ? element("caption", { class: "faint" }, caption) : null,
    element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell)))))));

const meter = (share) =>
  element("span", { class: "meter", "aria-hidden": "true" },
    element("span", { style: `width: ${Math.max(0, Math.min(100, 100 * share))}%` }));

/** Sections in the order in which they are added; the navigation has them all. */
const section = (id, title, ...content) => {
  const made = element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), ...content);
  document.getElementById("main").append(made);
  document.getElementById("nav").append(element("a", { href: `#${id}` }, title));
  return made;
};

/** The colours of the style as it is now: light, dark or on paper. */
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Colours from little to much, as a function of a number from 0 to 1. */
const ramp = () => {
  const [low, high] = [rgb(color("low")), rgb(color("high"))];
  return (share) => low.map((from, which) => Math.round(from + (high[which] - from) * Math.min(1, Math.max(0, share))));
};

const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

const charts = [];

/**
 * A chart on a canvas: `draw(context, width, height)` in pixels of the page. It is drawn again when its size or the
 * colours change. `height` may be a function of the width.
 */
const chart = (label, height, draw, attributes = {}) => {
  const canvas = element("canvas", { role: "img", tabindex: "0", "aria-label": label, ...attributes });
  const made = { canvas, times: 0 };
  made.redraw = () => {
    const width = canvas.clientWidth || 800;
    const tall = typeof height === "function" ? height(width) : height;
    const scale = Math.min(3, window.devicePixelRatio || 1);
    canvas.style.height = `${tall}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(tall * scale);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "12px system-ui, sans-serif";
    draw(context, width, tall, scale);
    made.times += 1;
    canvas.dataset.drawn = made.times;
  };
  charts.push(made);
  return made;
};

let pending = false;
const redrawAll = () => charts.forEach((made) => made.redraw());
const redrawSoon = () => {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    redrawAll();
  });
};

/**
 * A grid of cells that are looked at one by one, with the pointer or the arrow keys. `shape()` is {columns, rows, x, y,
 * width, height}; `tell(column, row)` says what there is.
 */
const inspect = (made, output, shape, tell) => {
  const at = { column: 0, row: 0 };
  const show = () => {
    output.textContent = tell(at.column, at.row);
    made.canvas.dataset.cell = `${at.column},${at.row}`;
  };
  made.canvas.addEventListener("pointermove", (event) => {
    const { columns, rows, x, y, width, height } = shape();
    const column = Math.floor((event.offsetX - x) / width * columns);
    const row = Math.floor((event.offsetY - y) / height * rows);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    Object.assign(at, { column, row });
    show();
  });
  made.canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { columns, rows } = shape();
    at.column = Math.min(columns - 1, Math.max(0, at.column + step[0]));
    at.row = Math.min(rows - 1, Math.max(0, at.row + step[1]));
    show();
  });
  made.canvas.addEventListener("focus", show);
};

/** A choice among names; `changed(name)` is called with each new one. */
const choice = (label, names, changed) =>
  element("label", {}, `${label} `, element("select", { onchange: (event) => changed(event.target.value) },
    names.map((name) => element("option", { value: name }, name))));
