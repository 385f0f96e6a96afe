// What each rank does when: a chart to zoom into. Where states and messages are few they are drawn one by one, otherwise as the
// mixture of activities in each cell of ranks and time.

const GANTT_MARGIN = { left: 96, bottom: 22 };
const MOST_ARROWS = 6000;

/** The states of the ranks that are shown one by one: for each row its rank and where its states begin, in seconds. */
const detailRows = ({ detail }) => detail.states.map(({ rank, begin, spans }) => {
  const many = spans.length / 2;
  const [times, names] = [new Float64Array(many + 1), new Uint16Array(many)];
  let now = begin;
  for (let place = 0; place < many; place += 1) {
    times[place] = now * 1e-9;
    names[place] = spans[2 * place + 1];
    now += spans[2 * place];
  }
  times[many] = now * 1e-9;
  return { rank, times, names };
});

/** The place of the last entry that is not after `value`. */
const lastUntil = (sorted, value) => {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
};

/** Round numbers between two others, about so many. */
const ticks = (from, to, about) => {
  const raw = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) || raw;
  const all = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) all.push(tick);
  return { all, step };
};

const addGantt = (data) => {
  const { map, detail, result, activities } = data;
  const shares = Uint8Array.from(atob(map.shares), (letter) => letter.charCodeAt(0));
  const detailed = data.detailed.states && detail.states.length > 0;
  const rows = detailed ? detailRows(data) : null;
  const rowOf = new Map(rows ? rows.map(({ rank }, row) => [rank, row]) : []);
  const many = detailed ? rows.length : map.rows;
  if (many === 0 || result.simulated_time === 0) return;
  const messages = detailed && data.detailed.messages ? detail.messages.filter(([from, to]) => rowOf.has(from) && rowOf.has(to)) : [];
  const end = detailed ? Math.max(...rows.map(({ times }) => times[times.length - 1])) : map.interval * map.intervals;
  const begin = detailed ? Math.min(...rows.map(({ times }) => times[0])) : 0;
  const all = { from: begin, to: detailed ? end : Math.min(end, result.simulated_time), top: 0, bottom: many };
  const view = { ...all };
  let arrows = true;
  const output = element("output", { "aria-live": "polite" });
  let frame = { x: GANTT_MARGIN.left, y: 0, width: 1, height: 1 };

  const label = (row) => {
    if (detailed) return `rank ${rows[row].rank}`;
    const first = row * map.ranks_per_row;
    const last = Math.min(first + map.ranks_per_row, result.ranks) - 1;
    return last > first ? `${first}–${last}` : `rank ${first}`;
  };
  const atTime = (x) => view.from + (x - frame.x) / frame.width * (view.to - view.from);
  const xOf = (when) => frame.x + (when - view.from) / (view.to - view.from) * frame.width;
  const yOf = (row) => frame.y + (row - view.top) / (view.bottom - view.top) * frame.height;

  const drawStates = (context) => {
    const paints = activities.map((name) => color(name));
    const tall = frame.height / (view.bottom - view.top);
    const pixel = (view.to - view.from) / frame.width;
    for (let row = Math.floor(view.top); row < Math.min(many, Math.ceil(view.bottom)); row += 1) {
      const { times, names } = rows[row];
      const [y, height] = [yOf(row), Math.max(0.6, tall - (tall > 5 ? 1 : 0))];
      let place = Math.max(0, lastUntil(times, view.from));
      while (place < names.length && times[place] < view.to) {
        const from = Math.max(view.from, times[place]);
        const until = Math.min(view.to, times[place + 1]);
        if (until - from < pixel) {
          // All that share a pixel are drawn as the one that lasts longest there.
          const edge = from + pixel;
          const first = place;
          let [longest, which] = [-1, place];
          while (place < names.length && times[place] < edge) {
            const length = Math.min(edge, times[place + 1]) - Math.max(from, times[place]);
            if (length > longest) [longest, which] = [length, place];
            if (times[place + 1] > edge) break;
            place += 1;
          }
          context.fillStyle = paints[detail.names[names[which]].activity];
          context.fillRect(xOf(from), y, 1, height);
          // A state that goes on after the pixel is drawn next.
          if (place === first) place += 1;
        } else {
          context.fillStyle = paints[detail.names[names[place]].activity];
          context.fillRect(xOf(from), y, Math.max(1, (until - from) / pixel), height);
          place += 1;
        }
      }
    }
  };

  const drawMixture = (context) => {
    const paints = activities.map((name) => rgb(color(name)));
    const paper = rgb(color("done"));
    const [across, down] = [Math.max(1, Math.round(frame.width)), Math.max(1, Math.round(frame.height))];
    const image = new ImageData(across, down);
    for (let y = 0; y < down; y += 1) {
      const row = Math.min(many - 1, Math.floor(view.top + (y + 0.5) / down * (view.bottom - view.top)));
      for (let x = 0; x < across; x += 1) {
        const when = view.from + (x + 0.5) / across * (view.to - view.from);
        const place = Math.min(map.intervals - 1, Math.floor(when / map.interval));
        const cell = (row * map.intervals + place) * paints.length;
        let rest = 255;
        const mixed = [0, 0, 0];
        for (let which = 0; which < paints.length; which += 1) {
          const share = shares[cell + which];
          rest -= share;
          for (let part = 0; part < 3; part += 1) mixed[part] += share * paints[which][part];
        }
        const pixel = (y * across + x) * 4;
        for (let part = 0; part < 3; part += 1) image.data[pixel + part] = (mixed[part] + Math.max(0, rest) * paper[part]) / 255;
        image.data[pixel + 3] = 255;
      }
    }
    const canvas = document.createElement("canvas");
    canvas.width = across;
    canvas.height = down;
    canvas.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, frame.x, frame.y, frame.width, frame.height);
  };

  const drawArrows = (context) => {
    const shown = messages.filter(([from, to, departed, arrived]) => {
      const [one, other] = [rowOf.get(from), rowOf.get(to)];
      return arrived * 1e-9 >= view.from && departed * 1e-9 <= view.to &&
        Math.max(one, other) + 1 > view.top && Math.min(one, other) < view.bottom;
    });
    if (shown.length > MOST_ARROWS) return { drawn: 0, all: shown.length };
    context.save();
    context.beginPath();
    context.rect(frame.x, frame.y, frame.width, frame.height);
    context.clip();
    context.strokeStyle = color("ink");
    context.globalAlpha = shown.length > 600 ? 0.25 : 0.6;
    context.lineWidth = 1;
    context.beginPath();
    for (const [from, to, departed, arrived] of shown) {
      context.moveTo(xOf(departed * 1e-9), yOf(rowOf.get(from) + 0.5));
      context.lineTo(xOf(arrived * 1e-9), yOf(rowOf.get(to) + 0.5));
    }
    context.stroke();
    context.restore();
    return { drawn: shown.length, all: shown.length };
  };

  const note = element("p", { class: "faint" });
  const made = chart("What each rank does over time. Plus and minus zoom, arrow keys move, page up and page down change the number of ranks, 0 shows everything.",
    () => Math.min(620, Math.max(90, many * 18)) + GANTT_MARGIN.bottom,
    (context, width, height) => {
      frame = { x: GANTT_MARGIN.left, y: 0, width: width - GANTT_MARGIN.left, height: height - GANTT_MARGIN.bottom };
      if (detailed) drawStates(context); else drawMixture(context);
      const told = arrows && messages.length ? drawArrows(context) : { drawn: 0, all: 0 };
      context.fillStyle = color("paper");
      context.fillRect(0, 0, GANTT_MARGIN.left, height);
      context.fillRect(0, frame.height, width, GANTT_MARGIN.bottom);
      context.fillStyle = color("faint");
      context.textBaseline = "middle";
      context.textAlign = "right";
      const every = Math.max(1, Math.ceil((view.bottom - view.top) / (frame.height / 16)));
      for (let row = Math.ceil(view.top / every) * every; row < view.bottom; row += every) {
        if (row < many && yOf(row + 0.5) > 5 && yOf(row + 0.5) < frame.height - 4) context.fillText(label(row), GANTT_MARGIN.left - 6, yOf(row + 0.5));
      }
      context.textBaseline = "top";
      context.textAlign = "center";
      const { all: marks, step } = ticks(view.from, view.to, Math.max(2, width / 130));
      const [unit, factor] = [["s", 1], ["ms", 1e3], ["µs", 1e6], ["ns", 1e9]].find(([, by]) => view.to * by >= 1) || ["ns", 1e9];
      const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * factor) + 1e-9)));
      for (const mark of marks) {
        const x = Math.min(width - 30, xOf(mark));
        context.fillRect(xOf(mark), frame.height, 1, 4);
        context.fillText(`${(mark * factor).toFixed(decimals)} ${unit}`, x, frame.height + 6);
      }
      note.textContent = told.all > told.drawn ? `${count(told.all)} messages here are too many to draw: zoom in.` : "";
      Object.assign(made.canvas.dataset, { from: view.from, to: view.to, top: view.top, bottom: view.bottom, arrows: told.drawn });
    }, { id: "gantt-chart" });

  const keep = () => {
    const shortest = (all.to - all.from) * (detailed ? 1e-7 : 8 / map.intervals);
    const span = Math.min(all.to - all.from, Math.max(shortest, view.to - view.from));
    view.from = Math.max(all.from, Math.min(all.to - span, view.from));
    view.to = view.from + span;
    const tall = Math.min(many, Math.max(Math.min(many, 2), view.bottom - view.top));
    view.top = Math.max(0, Math.min(many - tall, view.top));
    view.bottom = view.top + tall;
    made.redraw();
    output.textContent = `${time(view.from)} to ${time(view.to)}, ${label(Math.floor(view.top))} to ${label(Math.ceil(view.bottom) - 1)}`;
  };
  const zoom = (factor, at = (view.from + view.to) / 2) => {
    view.from = at - (at - view.from) * factor;
    view.to = at + (view.to - at) * factor;
    keep();
  };
  const zoomRows = (factor, at = (view.top + view.bottom) / 2) => {
    view.top = at - (at - view.top) * factor;
    view.bottom = at + (view.bottom - at) * factor;
    keep();
  };
  const move = (share, ranks) => {
    const [by, down] = [share * (view.to - view.from), ranks * (view.bottom - view.top)];
    Object.assign(view, { from: view.from + by, to: view.to + by, top: view.top + down, bottom: view.bottom + down });
    if (view.from < all.from) Object.assign(view, { from: all.from, to: all.from + view.to - view.from });
    keep();
  };
  const reset = () => {
    Object.assign(view, all);
    keep();
  };
  const actions = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": reset,
    ArrowLeft: () => move(-0.25, 0), ArrowRight: () => move(0.25, 0), ArrowUp: () => move(0, -0.25), ArrowDown: () => move(0, 0.25),
    PageUp: () => zoomRows(2), PageDown: () => zoomRows(0.5),
  };
  made.canvas.addEventListener("keydown", (event) => {
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  });
  made.canvas.addEventListener("wheel", (event) => {
    // The wheel scrolls the page unless the chart is in use.
    if (!event.ctrlKey && document.activeElement !== made.canvas) return;
    event.preventDefault();
    const factor = 1.0015 ** event.deltaY;
    if (event.shiftKey) zoomRows(factor, view.top + event.offsetY / frame.height * (view.bottom - view.top));
    else zoom(factor, atTime(event.offsetX));
  }, { passive: false });
  let dragged = null;
  made.canvas.addEventListener("pointerdown", (event) => {
    dragged = { x: event.offsetX, y: event.offsetY, ...view };
    made.canvas.setPointerCapture(event.pointerId);
  });
  made.canvas.addEventListener("pointerup", () => { dragged = null; });
  made.canvas.addEventListener("dblclick", (event) => zoom(0.4, atTime(event.offsetX)));
  made.canvas.addEventListener("pointermove", (event) => {
    if (dragged) {
      const by = (event.offsetX - dragged.x) / frame.width * (dragged.to - dragged.from);
      const down = (event.offsetY - dragged.y) / frame.height * (dragged.bottom - dragged.top);
      Object.assign(view, { from: dragged.from - by, to: dragged.to - by, top: dragged.top - down, bottom: dragged.bottom - down });
      keep();
      return;
    }
    const when = atTime(event.offsetX);
    const row = Math.floor(view.top + (event.offsetY - frame.y) / frame.height * (view.bottom - view.top));
    if (row < 0 || row >= many || when < view.from || when > view.to) return;
    if (!detailed) {
      const cell = (row * map.intervals + Math.min(map.intervals - 1, Math.floor(when / map.interval))) * activities.length;
      const here = activities.map((name, which) => [name, shares[cell + which]]).filter(([, share]) => share > 2);
      output.textContent = `${label(row)} at ${time(when)}: ${here.map(([name, share]) => `${name} ${percent(share / 255)}`).join(", ") || "done"}`;
      return;
    }
    const { times, names } = rows[row];
    const place = lastUntil(times, when);
    const state = place >= 0 && place < names.length ? detail.names[names[place]].name : "done";
    const span = place >= 0 && place < names.length ? ` from ${time(times[place])} for ${time(times[place + 1] - times[place])}` : "";
    output.textContent = `${label(row)} at ${time(when)}: ${state}${span}`;
  });

  const button = (text, title, action) => element("button", { type: "button", title, "aria-label": title, onclick: action }, text);
  const summarised = detailed ? null : element("p", { class: "faint" },
    `${count(detail.all_states)} states are too many for a page: each cell is the mixture of what its ranks do. ` +
    "--timeline-ranks and --timeline-window choose a part that is shown state by state.");
  section("gantt", "Timeline",
    legend(activities.filter((_, which) => shares.some((share, place) => place % activities.length === which && share > 0))),
    element("div", { class: "controls" },
      button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
      button("←", "Earlier", () => move(-0.25, 0)), button("→", "Later", () => move(0.25, 0)),
      many > 2 ? [button("fewer ranks", "Show fewer ranks", () => zoomRows(0.5)), button("more ranks", "Show more ranks", () => zoomRows(2))] : null,
      button("all", "Show everything", reset),
      messages.length ? element("label", {}, element("input", { type: "checkbox", checked: true, onchange: (event) => {
        arrows = event.target.checked;
        made.redraw();
      } }), " messages") : null,
      element("span", { class: "faint" }, "Keys, with the chart in focus: + − ← → ↑ ↓ PgUp PgDn 0; Ctrl and the wheel zoom, too.")),
    element("div", { class: "chart" }, made.canvas), output, note, summarised);
};
