// Tables: the name first, the unit in the heading, five rows, and the rest folded. A heading sorts its column.

const SHOWN_ROWS = 5;
const ROWS_ON_PAPER = 20;
const MOST_ROWS = 500;

/** How a column of numbers is written: its unit, and each number with as many decimals as the largest one needs. */
const columnStyle = (kind, numbers) => {
  const most = largest(numbers.map(Math.abs));
  const units = { time: TIME_UNITS, bytes: BYTE_UNITS, rate: BYTE_UNITS.map(([unit, factor]) => [`${unit}/s`, factor]), percent: [["%", 100]], count: [["", 1]], number: [["", 1]] }[kind];
  const [unit, factor] = unitOf(units, most);
  const whole = kind === "count" || unit === "B";
  // The smallest number has three digits, too, unless that takes more than one more decimal.
  const least = numbers.reduce((min, number) => number === 0 ? min : Math.min(min, Math.abs(number)), most);
  const power = (number) => Math.floor(Math.log10(number * factor || 1));
  const decimals = whole ? 0 : Math.max(0, Math.min(6, 2 - power(most) + Math.min(1, power(most) - power(least))));
  // Rates are data sheets': 1.25 beside 100.
  const show = (value) => kind === "rate" ? Number(Math.abs(value * factor).toPrecision(4)).toLocaleString("en-US")
    : Math.abs(value * factor).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const isLess = (value) => !whole && kind !== "rate" && Math.abs(value * factor) < 0.5 * 10 ** -decimals;
  return { unit, show: (value) => !value ? NOTHING : isLess(value) ? `<${SPACE}${10 ** -decimals}` : `${value < 0 ? "−" : ""}${show(value)}` };
};

/** The content of a cell: the text, as a link if the column has links. */
const shownCell = (column, row) => {
  const text = column.show(column.value(row));
  return column.link ? element("a", { href: column.link(row) }, text) : text;
};

/**
 * A table of `rows`. A column is {name, kind, value(row)}, of kind text, time, bytes, rate, count, percent, number or, for what is
 * written already and stands right, rank; `unit` is shown in the heading, and columns of one `scale` have one; `title(row)` is shown
 * with the pointer over the cell, and `link(row)` is the address of another page. Columns without any value are left out. The rows are in the order of `rows`.
 */
const table = (name, columns, rows, caption) => {
  const isNothing = (value) => value === null || value === undefined || value === 0 || value === "";
  const isRank = ({ kind }) => kind === "rank";
  const present = columns.filter((column, place) => place === 0 || rows.some((row) => !isNothing(column.value(row))));
  const styled = present.map((column) => ({
    ...(column.kind.startsWith("text") || isRank(column) ? { unit: "", show: (value) => isNothing(value) && value !== 0 ? NOTHING : String(value) }
      : columnStyle(column.kind, present.filter((other) => other === column || (column.scale && other.scale === column.scale))
        .flatMap((other) => rows.map((row) => other.value(row) || 0)))),
    ...column,
  }));
  let shown = SHOWN_ROWS;
  let order = [...rows];
  const body = element("tbody");
  const more = link("", false, () => {
    shown = shown < rows.length ? shown + MOST_ROWS : SHOWN_ROWS;
    fill();
  });
  const fill = () => {
    body.replaceChildren(...order.slice(0, shown).map((row) => element("tr", {}, styled.map((column) =>
      element("td", { class: column.kind, title: column.title ? column.title(row) : false }, shownCell(column, row))))));
    more.hidden = rows.length <= SHOWN_ROWS;
    more.textContent = rows.length > shown ? `${count(rows.length - shown)} more` : "show fewer";
  };
  let sorted = null;
  const sort = (column, heading) => {
    const down = sorted !== column;
    sorted = down ? column : null;
    const compare = (one, other) => typeof one === "string" || typeof other === "string"
      ? String(one ?? "").localeCompare(String(other ?? ""), "en", { numeric: true }) : (other ?? 0) - (one ?? 0);
    order.sort((one, other) => (down ? 1 : -1) * compare(column.value(one), column.value(other)));
    heading.closest("tr").querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    fill();
  };
  const heading = (column) => {
    const made = element("th", { scope: "col", class: column.kind }, element("button", { type: "button", class: "sort", onclick: () => sort(column, made) },
      column.name, column.unit ? element("span", { class: "unit" }, `, ${column.unit}`) : null));
    return made;
  };
  const csv = () => csvText([columns.map((column) => column.name + ({ time: " (s)", bytes: " (B)", rate: " (B/s)" }[column.kind] || "")),
    ...order.map((row) => columns.map((column) => column.value(row)))]);
  fill();
  let before = shown;
  onPaper.push((isPaper) => {
    if (isPaper) before = shown;
    shown = isPaper ? Math.max(shown, ROWS_ON_PAPER) : before;
    fill();
    if (isPaper && shown >= rows.length) more.hidden = true;
  });
  offer(caption || titled(name), { CSV: () => save(name, "csv", "text/csv", csv()) });
  return element("div", { class: "table" },
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || words(name) }, element("table", {},
      caption ? element("caption", {}, caption) : null, element("thead", {}, element("tr", {}, styled.map(heading))), body)),
    element("p", { class: "more" }, more));
};
