// What all parts of the page share: elements, the data, sections, and files to save.

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    // The page's policy allows no style attributes.
    else if (key === "style") made.style.cssText = value;
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
};

/** The object that stands compressed in the page. */
const readData = async () => {
  const letters = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(inflated).text());
};

/** The page, or the row within it that the next sections share. */
let place = document.getElementById("main");

/** Sections beside each other. */
const row = (...parts) => element("div", { class: "row" }, parts);

/** Adds sections beside each other by functions of the data. */
const addRow = (data, ...adds) => {
  const main = place;
  place = row();
  adds.forEach((add) => add(data));
  if (place.hasChildNodes()) main.append(place);
  place = main;
};

/** Sections in the order in which they are added; the navigation has them all. */
const section = (id, title, ...content) => {
  const made = element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), ...content);
  place.append(made);
  document.getElementById("nav").append(element("a", { href: `#${id}` }, title));
  return made;
};

/** The beginning of the names of saved files. */
let fileName = "replay";

/** Saves a text as a file. */
const save = (name, kind, type, text) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: `${fileName}-${name}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

/** A cell of a CSV file; a text that a spreadsheet takes for a formula begins with an apostrophe. */
const csvCell = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csvText = ([heading, ...rows]) => [heading, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";

const link = (text, title, action) => element("button", { type: "button", class: "link", title, "aria-label": title, onclick: action }, text);

/** The command that repeats a measurement or a replay. */
const repeatedBy = (what, command) => {
  const quoted = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return [element("p", {}, `The ${what} is repeated by`), element("pre", {}, command.map((word) => [element("span", { class: "word" }, quoted(word)), " "]))];
};

const downloads = element("ul");
/** Adds what can be saved to the menu of downloads: its title, and the kinds of files with the functions that save them. */
const offer = (title, saves) => downloads.append(element("li", {}, title, Object.entries(saves).map(([kind, action]) =>
  [" ", link(kind, `Save as ${kind}: ${title}`, action)])));

/** Functions that are called with true before the page is printed, and with false afterwards. */
const onPaper = [];

/** A folded part, which is made when it is first opened, and is open on paper. */
const folded = (title, make) => {
  const made = element("details", {}, element("summary", {}, title));
  let isMade = false;
  const fill = () => {
    if (!isMade) made.append(row(make()));
    isMade = true;
  };
  made.addEventListener("toggle", fill);
  onPaper.push((isPaper) => {
    fill();
    made.open = isPaper;
  });
  return made;
};

/** A choice among names; `changed(name)` is called with each new one. */
const choice = (label, names, changed) =>
  element("label", {}, `${label} `, element("select", { onchange: (event) => changed(event.target.value) },
    names.map((name) => element("option", { value: name }, name))));

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const largest = (numbers) => numbers.reduce((most, number) => Math.max(most, number), 0);

/** Sums by a key, the largest first. */
const grouped = (rows, keyOf, valueOf) => {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key) || { key, value: 0, rows: [] };
    group.value += valueOf(row);
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()].sort((one, other) => other.value - one.value);
};

/** Draws a page by `start`, and again when its size or its colours change; says why, if it cannot be drawn. */
const drawPage = (start) => start().then(() => {
  const menu = element("details", { class: "menu" }, element("summary", {}, "Download"), downloads);
  menu.addEventListener("keydown", ({ key }) => { if (key === "Escape") menu.open = false; });
  menu.addEventListener("focusout", ({ relatedTarget: next }) => { if (next && !menu.contains(next)) menu.open = false; });
  document.querySelector("header").append(menu);
  redrawAll();
  for (const [name, isPaper] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      // Charts have the width of the paper before it is cut into pages. A part that is opened has tables, which then follow.
      document.documentElement.classList.toggle("paper", isPaper);
      for (const change of onPaper) change(isPaper);
      redrawAll();
    });
  }
  addEventListener("resize", redrawSoon);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redrawAll);
  document.documentElement.dataset.ready = "yes";
}).catch((error) => {
  const failure = document.getElementById("failure");
  failure.hidden = false;
  failure.textContent = `The page cannot be drawn: ${error.message}`;
  throw error;
});
