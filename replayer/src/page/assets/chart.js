// Charts: each is drawn on a canvas, saved as SVG by the same function, and has its data as CSV.

/** The colours of the style as it is now: light, dark or on paper. */
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;
const blend = (from, to, share) => from.map((one, which) => Math.round(one + (to[which] - one) * share));

const RAMP = ["ramp-0", "ramp-1", "ramp-2", "ramp-3", "ramp-4"];
/** Colours from little to much, as a function of a number from 0 to 1. */
const ramp = () => {
  const stops = RAMP.map((name) => rgb(color(name)));
  return (share) => {
    const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(at));
    return blend(stops[below], stops[below + 1], at - below);
  };
};

const FONT = "12px system-ui, sans-serif";
const BOLD = "600 12px system-ui, sans-serif";
const measuring = document.createElement("canvas").getContext("2d");

/** A text that is cut where it would be wider. */
const fitted = (context, text, width) => {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
};

const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);

// It is a name, and nothing is loaded from there.
const SVG_NAMESPACE = ["http", "//www.w3.org/2000/svg"].join(":");

/** Takes what is drawn on a canvas, as far as charts use it, and writes SVG. */
class SvgDrawing {
  constructor(width, height, title) {
    Object.assign(this, { width, height, title, font: FONT, textAlign: "left", textBaseline: "alphabetic", fillStyle: "#000", strokeStyle: "#000",
      lineWidth: 1, dash: [], globalAlpha: 1, parts: [], path: "" });
  }
  measureText(text) {
    measuring.font = this.font;
    return measuring.measureText(text);
  }
  add(name, attributes, text = "") {
    const alpha = this.globalAlpha < 1 ? { opacity: this.globalAlpha } : {};
    const written = Object.entries({ ...attributes, ...alpha }).map(([key, value]) =>
      ` ${key}="${typeof value === "number" ? Math.round(value * 100) / 100 : escaped(value)}"`);
    this.parts.push(`<${name}${written.join("")}>${text}</${name}>`);
  }
  fillRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: this.fillStyle }); }
  strokeRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] || "start";
    const baseline = { middle: "central", top: "hanging" }[this.textBaseline] || "auto";
    this.add("text", { x, y, fill: this.fillStyle, "text-anchor": anchor, "dominant-baseline": baseline,
      "font-weight": this.font.startsWith("600") ? 600 : 400 }, escaped(text));
  }
  beginPath() { this.path = ""; }
  step(letter, ...numbers) { this.path += letter + numbers.map((number) => Math.round(number * 100) / 100).join(" "); }
  moveTo(x, y) { this.step("M", x, y); }
  lineTo(x, y) { this.step("L", x, y); }
  quadraticCurveTo(byX, byY, x, y) { this.step("Q", byX, byY, x, y); }
  setLineDash(dash) { this.dash = dash; }
  stroke() {
    this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash.join(" ") || "none" });
  }
  /** The drawing with its title, and the meaning of its colours. */
  text(key) {
    const parts = this.parts;
    const above = key.length ? 46 : 24;
    Object.assign(this, { parts: [], font: BOLD, textAlign: "left", textBaseline: "top", fillStyle: color("ink") });
    this.fillText(this.title, 0, 4);
    this.font = FONT;
    let x = 0;
    for (const [name, paint] of key) {
      this.fillStyle = color(paint);
      this.fillRect(x, 26, 11, 11);
      this.fillStyle = color("ink");
      this.fillText(name, x + 16, 25);
      x += this.measureText(name).width + 36;
    }
    const size = `width="${this.width}" height="${this.height + above}" viewBox="0 0 ${this.width} ${this.height + above}"`;
    return `<svg xmlns="${SVG_NAMESPACE}" ${size} font-family="system-ui, sans-serif" font-size="12">` +
      `<title>${escaped(this.title)}</title><rect width="100%" height="100%" fill="${color("paper")}"/>` +
      `${this.parts.join("\n")}<g transform="translate(0 ${above})">${parts.join("\n")}</g></svg>\n`;
  }
}

const charts = [];

/**
 * A chart. `draw(context, width, height)` is in pixels of the page, and is called again when the size or the colours change; `height`
 * may be a function of the width; `csv()` is an array of rows, of which the first has the names of the columns; `key` has names and
 * their colours, for a drawing on its own.
 */
const chart = ({ id, label, title, height, draw, csv, key = [] }) => {
  const canvas = element("canvas", { role: "application", "aria-roledescription": "chart", tabindex: "0", "aria-label": label, id: `${id}-chart` });
  const output = element("output", { hidden: true });
  const size = () => {
    const width = canvas.clientWidth || 800;
    return [width, typeof height === "function" ? height(width) : height];
  };
  const made = { canvas, times: 0 };
  /** Says what is at a place of the chart, beside it. */
  made.tell = (text, x, y) => {
    output.textContent = text;
    output.hidden = false;
    const left = Math.max(0, Math.min(x + 14, canvas.clientWidth - output.offsetWidth));
    const top = y > canvas.clientHeight / 2 ? y - output.offsetHeight - 10 : y + 18;
    output.style.cssText = `left: ${left}px; top: ${top}px`;
  };
  for (const leaving of ["pointerleave", "blur"]) canvas.addEventListener(leaving, () => { output.hidden = true; });
  made.redraw = () => {
    const [width, tall] = size();
    const scale = Math.min(3, window.devicePixelRatio || 1);
    canvas.style.height = `${tall}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(tall * scale);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = FONT;
    draw(context, width, tall, scale);
    made.times += 1;
    canvas.dataset.drawn = made.times;
  };
  made.svg = () => {
    const [width, tall] = size();
    const drawing = new SvgDrawing(width, tall, title);
    draw(drawing, width, tall, 1);
    return drawing.text(key);
  };
  made.figure = element("figure", {}, element("figcaption", {}, title), element("div", { class: "drawing" }, canvas, output));
  offer(title, { SVG: () => save(id, "svg", "image/svg+xml", made.svg()), CSV: () => save(id, "csv", "text/csv", csvText(csv())) });
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
 * width, height}; `tell(column, row)` describes a cell. `find(x, y)` is the column of a place, if cells are not where a grid has them.
 */
const inspect = (made, shape, tell, find = null) => {
  const at = { column: 0, row: 0 };
  const show = (left, top) => {
    const { columns, rows, x, y, width, height } = shape();
    made.tell(tell(at.column, at.row), left ?? x + (at.column + 0.5) / columns * width, top ?? y + (at.row + 0.5) / rows * height);
    made.canvas.dataset.cell = `${at.column},${at.row}`;
  };
  made.canvas.addEventListener("pointermove", (event) => {
    const { columns, rows, x, y, width, height } = shape();
    const column = find ? find(event.offsetX, event.offsetY) : Math.floor((event.offsetX - x) / width * columns);
    const row = find ? 0 : Math.floor((event.offsetY - y) / height * rows);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    Object.assign(at, { column, row });
    show(event.offsetX, event.offsetY);
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
  made.canvas.addEventListener("focus", () => show());
};

const SCALE_HEIGHT = 34;
/** The bar that says what the colours of a ramp mean, with its ends labelled. */
const colorBar = (context, y, width, low, high, about) => {
  const paint = ramp();
  const [long, steps] = [Math.min(220, width * (width < 500 ? 0.32 : 0.45)), 44];
  for (let step = 0; step < steps; step += 1) {
    context.fillStyle = css(paint(step / (steps - 1)));
    context.fillRect(step * long / steps, y + 6, long / steps + 0.5, 8);
  }
  context.font = FONT;
  context.fillStyle = color("faint");
  context.textBaseline = "top";
  context.textAlign = "left";
  context.fillText(low, 0, y + 18);
  context.textAlign = "right";
  context.fillText(high, long, y + 18);
  context.textAlign = "left";
  context.fillText(fitted(context, about, width - long - 12), long + 12, y + 4);
};

const BAR_HEIGHT = 32;
/**
 * Horizontal bars, one below another: rows of {name, value, text, parts}, of which `parts` are [colour, value]. `tell(row)` describes a
 * row; a bar of `whole` is as long as the chart is wide.
 */
const barChart = ({ id, label, title, rows, whole, tell, csv }) => {
  const most = whole || largest(rows.map(({ value }) => Math.abs(value))) || 1;
  const made = chart({ id, label, title, csv, height: rows.length * BAR_HEIGHT + 2, draw: (context, width) => {
    rows.forEach(({ name, text, parts }, row) => {
      const y = row * BAR_HEIGHT;
      context.textBaseline = "top";
      context.textAlign = "right";
      context.font = BOLD;
      context.fillStyle = color("ink");
      context.fillText(text, width, y + 3);
      const room = width - context.measureText(text).width - 12;
      context.textAlign = "left";
      context.font = FONT;
      context.fillText(fitted(context, name, room), 0, y + 3);
      context.fillStyle = color("panel");
      context.fillRect(0, y + 19, width, 7);
      let x = 0;
      for (const [paint, value] of parts) {
        const long = Math.abs(value) / most * width;
        context.fillStyle = color(paint);
        // Parts stand apart by a thin gap.
        context.fillRect(x, y + 19, Math.max(value ? 1 : 0, long - (parts.length > 1 && long > 3 ? 1 : 0)), 7);
        x += long;
      }
    });
  } });
  inspect(made, () => ({ columns: 1, rows: rows.length, x: 0, y: 0, width: made.canvas.clientWidth, height: rows.length * BAR_HEIGHT }),
    (_, row) => tell(rows[row]));
  return made;
};

const legend = (names) => element("ul", { class: "legend" }, names.map(([name, paint]) =>
  element("li", {}, element("i", { style: `background: var(--${paint})` }), name)));
