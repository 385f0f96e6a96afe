// What each rank does when: the whole run in a strip, and below it the chosen window.

/** The part of the picture that messages may cover; more could not be told apart. */
const MOST_COVERED = 0.06;
/** The states that are drawn within a twentieth of a second. */
const MOST_STATES = 100000;
const AXIS = 22;
const STRIP = 46;
const LANE = 20;
const marginOf = (width) => width < 600 ? 46 : 78;

const addTimeline = (data) => {
  const { map, detail, result, activities } = data;
  ACTIVITY_COLORS = activities;
  const rows = stateRows(data);
  if (rows.length === 0 || result.simulated_time === 0) return;
  const cells = Uint8Array.from(atob(map.shares), (letter) => letter.charCodeAt(0));
  const totals = mapTotals(map, cells);
  const partsOf = stateParts(detail);
  const isJoined = (name) => name >= detail.names.length;
  /** The name of a state, or the parts of a joined one. */
  const stateName = (name) => {
    if (!isJoined(name)) return detail.names[name].name;
    const parts = partsOf[name].map((activity, place) => [activity, partsOf[name][place + 1]]).filter((_, place) => place % 2 === 0);
    return parts.sort(([, one], [, other]) => other - one).map(([activity, part]) => `${activities[activity]} ${percent(part)}`).join(", ");
  };
  const rowOf = new Map(rows.map(({ rank }, row) => [rank, row]));
  const many = rows.length;
  const isWhole = many === result.ranks;
  let last = 0;
  const messages = detail.messages.map(([from, to, since, flight]) => {
    last += since;
    return [from, to, last * detail.tick * 1e-9, (last + flight) * detail.tick * 1e-9];
  }).filter(([from, to]) => rowOf.has(from) && rowOf.has(to));
  const bounds = rows.reduce(({ from, to }, { times }) => ({ from: Math.min(from, times[0]), to: Math.max(to, times[times.length - 1]) }),
    { from: Infinity, to: 0 });
  const all = { ...bounds, top: 0, bottom: many };
  const view = { ...all };
  const states = sum(rows.map(({ names }) => names.length));
  const path = result.analyses && result.analyses["critical-path"];
  const visits = path ? path.visits.map(({ rank, begin }) => [rank, begin]).filter(([rank]) => rowOf.has(rank)) : [];
  const present = activities.filter((_, activity) => totals.some((part, place) => place % DONE === activity && part > 0));
  const parts = timeParts(result);
  const idle = parts.filter(({ name }) => partColor(name) === "done").map(({ name }) => [name, "done"]);
  const means = new Map(parts.map(({ name, mean }) => [name, mean / sum(parts.map((part) => part.mean))]));
  const key = [...present.map((name) => [name, name]), ...idle, ...(visits.length ? [["critical path", "ink"]] : [])];
  const jobs = result.jobs || [];
  const jobKey = jobs.map(({ name }, which) => [name, jobColor(which)]);
  const rankName = (rank) => jobs.length ? `rank ${rank} (${jobs[jobOf(jobs, rank)].name})` : `rank ${rank}`;
  const lane = messages.length ? LANE : 0;
  /** Whether all messages are there, and not only those that took longest. */
  const hasAll = messages.length === detail.all_messages;
  let arrows = true;
  let frame = { x: 0, y: 0, width: 1, height: 1 };
  const share = ({ from, to }) => (to - from) / (all.to - all.from);
  const atTime = (x) => view.from + (x - frame.x) / frame.width * (view.to - view.from);
  const xOf = (when) => frame.x + (when - view.from) / (view.to - view.from) * frame.width;
  const yOf = (row) => frame.y + (row - view.top) / (view.bottom - view.top) * frame.height;
  const isCoarse = () => isWhole && states * share(view) * (view.bottom - view.top) / many > MOST_STATES;

  const messagesInView = () => messages.filter(([from, to, departed, arrived]) => {
    const [one, other] = [rowOf.get(from), rowOf.get(to)];
    return arrived >= view.from && departed <= view.to && Math.max(one, other) + 1 > view.top && Math.min(one, other) < view.bottom;
  });

  /** The mean number of messages under way in each of many short times. */
  let density = new Float64Array(1);
  /** A lane below the axis: the number of messages over time, which is all there is of them where arrows could not be told apart. */
  const drawDensity = (context, shown) => {
    const columns = Math.max(1, Math.round(frame.width / 3));
    density = hasAll ? densityOf(shown, columns) : densityOfMap(columns);
    const mean = largest(density);
    context.fillStyle = color("amount");
    const base = frame.height + AXIS + LANE;
    density.forEach((number, place) => {
      const tall = mean > 0 ? number / mean * (LANE - 2) : 0;
      context.fillRect(frame.x + place * frame.width / columns, base - tall, frame.width / columns + 0.5, tall);
    });
  };

  const densityOfMap = (columns) => {
    const intervalAt = (column) => Math.floor((view.from + column / columns * (view.to - view.from)) / map.interval);
    return Float64Array.from({ length: columns }, (_, place) =>
      map.under_way.slice(intervalAt(place), intervalAt(place + 1) + 1).reduce((most, number) => Math.max(most, number), 0));
  };

  const densityOf = (shown, columns) => {
    const column = (when) => Math.min(columns, Math.max(0, (when - view.from) / (view.to - view.from) * columns));
    const [parts, changes] = [new Float64Array(columns + 1), new Int32Array(columns + 2)];
    for (const [, , departed, arrived] of shown) {
      const [from, to] = [column(departed), column(arrived)];
      const [first, last] = [Math.floor(from), Math.floor(to)];
      parts[first] -= from - first;
      parts[last] += to - last;
      changes[first] += 1;
      changes[last] -= 1;
    }
    let under = 0;
    return parts.slice(0, columns).map((part, place) => part + (under += changes[place]));
  };

  /** The largest number of messages that are under way at once; one that departs as another arrives comes after it. */
  const mostAtOnce = (shown) => {
    const [departures, arrivals] = [2, 3].map((which) => Float64Array.from(shown, (message) => message[which]).sort());
    let [most, arrived] = [0, 0];
    departures.forEach((departed, place) => {
      while (arrivals[arrived] <= departed && arrived < place) arrived += 1;
      most = Math.max(most, place + 1 - arrived);
    });
    return most;
  };
  const few = (number) => number < 10 ? Number(number.toFixed(1)) : count(Math.round(number));

  /** Arrows of messages, from the edge of the sender's row to that of the receiver's. */
  const drawArrows = (context, shown) => {
    const lines = shown.map(([from, to, departed, arrived]) => {
      const [one, other] = [rowOf.get(from), rowOf.get(to)];
      const aside = 0.3 * Math.sign(other - one);
      return [xOf(departed), yOf(one + 0.5 + aside), xOf(arrived), yOf(other + 0.5 - aside)];
    });
    const within = (number, most) => Math.min(most, Math.max(0, number));
    const covered = sum(lines.map(([x, y, toX, toY]) => Math.hypot(within(toX - frame.x, frame.width) - within(x - frame.x, frame.width),
      within(toY, frame.height) - within(y, frame.height))));
    if (covered > MOST_COVERED * frame.width * frame.height) return { drawn: 0, all: shown.length };
    context.beginPath();
    for (const [x, y, toX, toY] of lines) {
      const along = Math.atan2(toY - y, toX - x);
      context.moveTo(x, y);
      context.lineTo(toX, toY);
      for (const barb of [2.7, -2.7]) {
        context.moveTo(toX + 7 * Math.cos(along + barb), toY + 7 * Math.sin(along + barb));
        context.lineTo(toX, toY);
      }
    }
    for (const [paint, wide] of [["paper", 3.5], ["amount", 1.4]]) {
      context.strokeStyle = color(paint);
      context.lineWidth = wide;
      context.stroke();
    }
    return { drawn: shown.length, all: shown.length };
  };

  // A path with many visits covers what it should explain, unless the reader zooms in.
  let hasPath = visits.length > 0 && visits.length <= 64;
  /** The critical path: along the row of each rank that it visits, and from there to the next. */
  const drawPath = (context) => {
    const end = result.simulated_time;
    const shown = visits.map(([rank, begin], place) => [rowOf.get(rank) + 0.5, begin, place + 1 < visits.length ? visits[place + 1][1] : end])
      .filter(([, begin, until]) => until >= view.from && begin <= view.to);
    for (const [paint, wide] of [["paper", 5], ["ink", 2.5]]) {
      context.strokeStyle = color(paint);
      context.lineWidth = wide;
      context.beginPath();
      shown.forEach(([row, begin, until], place) => {
        if (place === 0) context.moveTo(xOf(begin), yOf(row)); else context.lineTo(xOf(begin), yOf(row));
        context.lineTo(xOf(until), yOf(row));
      });
      context.stroke();
    }
    context.lineWidth = 1;
  };

  const drawAxes = (context, width, height) => {
    context.fillStyle = color("paper");
    context.fillRect(0, 0, frame.x, height);
    context.fillRect(0, frame.height, width, AXIS);
    context.font = FONT;
    context.fillStyle = color("faint");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const { all: marks } = ticks(view.top, view.bottom, Math.max(1, frame.height / 24));
    for (const row of new Set(marks.map(Math.floor))) {
      const y = yOf(row + 0.5);
      if (row < many && y > 0 && y < frame.height) context.fillText(`${width < 600 ? "" : "rank "}${rows[row].rank}`, frame.x - 8, Math.max(7, y));
    }
    context.textBaseline = "top";
    for (const [at, text] of timeMarks(view.from, view.to, Math.max(2, width / 120))) {
      const x = xOf(at);
      context.textAlign = x < frame.x + 20 ? "left" : x > width - 24 ? "right" : "center";
      context.fillRect(x, frame.height, 1, 4);
      context.fillText(text, x, frame.height + 7);
    }
  };

  /** A band beside each rank in the colour of its job. */
  const drawJobs = (context) => {
    const paints = jobKey.map(([, paint]) => color(paint));
    for (let row = Math.floor(view.top); row < Math.min(many, Math.ceil(view.bottom)); row += 1) {
      const [from, until] = [Math.max(frame.y, yOf(row)), Math.min(frame.y + frame.height, yOf(row + 1))];
      context.fillStyle = paints[jobOf(jobs, rows[row].rank)];
      context.fillRect(frame.x - 4, from, 3, until - from);
    }
  };

  // What the ranks do within the window: the legend says it.
  const statistics = element("ul", { class: "legend" });
  const describe = (inView) => {
    const shares = isCoarse() ? sharesOfMap(map, cells, view) : sharesOfStates(rows, partsOf, view);
    const isAll = isWhole && share(view) > 0.999 && view.bottom - view.top === many;
    const shown = key.filter(([name]) => name !== "critical path" || hasPath).map(([name, paint]) => {
      const part = isAll && means.has(name) ? means.get(name) : paint === "done" ? Math.max(0, 1 - sum(shares)) : shares[activities.indexOf(name)];
      return [part === undefined ? name : `${name} ${percent(part)}`, paint];
    });
    const [first, last] = [rows[Math.floor(view.top)], rows[Math.min(many, Math.ceil(view.bottom)) - 1]];
    const atOnce = lane ? [[`messages under way: at most ${hasAll ? few(mostAtOnce(inView)) : `about ${few(Number(largest(density).toPrecision(2)))}`}`, "amount"]] : [];
    statistics.replaceChildren(...legend([...shown, ...atOnce, ...jobKey]).children,
      element("li", { class: "faint" }, `${time(view.from)} to ${time(view.to)}, ranks ${first.rank} to ${last.rank}`));
  };

  const note = element("p", { class: "faint" });
  const made = chart({ id: "timeline", key: [...key, ...jobKey], title: "Each rank over time: the activity that dominates, as high as its share",
    label: "What each rank does over time. Plus and minus zoom, arrow keys move, page up and page down change the number of ranks, 0 shows everything.",
    height: (width) => Math.min(width > 1800 ? 760 : width < 800 ? 400 : 560, many * 44) + AXIS + lane,
    csv: () => [["rank", "begin (s)", "end (s)", "state"], ...rows.slice(Math.floor(view.top), Math.ceil(view.bottom)).flatMap(({ rank, times, names }) =>
      [...names].flatMap((name, place) => times[place + 1] < view.from || times[place] > view.to ? []
        : [[rank, times[place], times[place + 1], stateName(name)]]))],
    draw: (context, width, height, scale) => {
      const margin = marginOf(width);
      frame = { x: margin, y: 0, width: width - margin, height: height - AXIS - lane };
      const across = Math.max(1, Math.round(frame.width * scale));
      // A band is high enough for shares.
      // All bands have equally many ranks.
      const inBand = Math.ceil((Math.ceil(view.bottom) - Math.floor(view.top)) / Math.floor(frame.height / 4));
      const most = Math.ceil((Math.ceil(view.bottom) - Math.floor(view.top)) / inBand);
      const bands = isCoarse() ? bandsOfMap(map, cells, view, across, most) : bandsOfStates(rows, partsOf, view, across, most);
      const [top, bottom] = [yOf(bands[0].first), yOf(bands[bands.length - 1].last)];
      paintBands(context, bands, { ...frame, y: top, height: bottom - top }, across, Math.max(1, Math.round((bottom - top) * scale)));
      const tall = (bottom - top) / bands.length;
      context.fillStyle = color("paper");
      for (let band = 1; tall > 6 && band < bands.length; band += 1) context.fillRect(frame.x, Math.round(top + band * tall), frame.width, 1);
      const inView = messagesInView();
      const drawn = arrows ? drawArrows(context, inView) : { drawn: 0, all: 0 };
      if (hasPath) drawPath(context);
      drawAxes(context, width, height);
      if (lane) drawDensity(context, inView);
      if (jobs.length) drawJobs(context);
      const longest = messages.length < detail.all_messages ? `Of ${counted(detail.all_messages, "message", "messages")}, ` +
        `the ${count(messages.length)} that were in the network for the longest time are drawn where there is room: zoom in.` : "";
      const shortest = detail.shortest * 1e-9;
      note.textContent = (drawn.all > drawn.drawn && !longest ? `Zoom in to see the ${counted(drawn.all, "message", "messages")} of this window.` : "") + longest +
        (shortest && (view.to - view.from) / frame.width < shortest ? ` States shorter than ${time(shortest)} are joined with their ` +
          "neighbours: --timeline-ranks and --timeline-window choose a part that is shown in full." : "");
      describe(inView);
      Object.assign(made.canvas.dataset, { from: view.from, to: view.to, top: view.top, bottom: view.bottom, arrows: drawn.drawn });
    } });

  const strip = chart({ id: "strip", key, title: "All ranks together: the share of each activity over time",
    label: "The share of each activity over time; the timeline below shows the part in the frame",
    height: STRIP + AXIS, csv: () => [["begin (s)", ...activities], ...Array.from({ length: map.intervals }, (_, place) =>
      [place * map.interval, ...activities.map((_, activity) => Number(totals[place * DONE + activity].toFixed(4)))])],
    draw: (context, width) => {
      const [margin, end] = [marginOf(width), map.intervals * map.interval];
      const across = width - margin;
      paintStrip(context, totals, map.intervals, { x: margin, width: across, height: STRIP });
      if (share(view) < 0.999) {
        const [from, to] = [margin + view.from / end * across, margin + view.to / end * across];
        context.fillStyle = color("paper");
        context.globalAlpha = 0.6;
        context.fillRect(margin, 0, from - margin, STRIP);
        context.fillRect(to, 0, width - to, STRIP);
        context.globalAlpha = 1;
        context.strokeStyle = color("ink");
        context.lineWidth = 2;
        context.strokeRect(from, 1, Math.max(2, to - from), STRIP - 2);
      }
      context.font = FONT;
      context.fillStyle = color("faint");
      context.textBaseline = "top";
      context.textAlign = "right";
      context.fillText("100" + SPACE + "%", margin - 6, 0);
      for (const [at, text] of timeMarks(0, end, Math.max(2, width / 120))) {
        const x = margin + at / end * across;
        context.textAlign = x < margin + 20 ? "left" : x > width - 24 ? "right" : "center";
        context.fillText(text, x, STRIP + 5);
      }
    } });

  // A browser refuses to change the address too often.
  const remember = () => {
    const place = [view.from * 1e9, view.to * 1e9, view.top, view.bottom].map((number) => Math.round(number)).join(",");
    history.replaceState(null, "", `#timeline=${place}`);
  };
  let remembering = 0;
  const keep = () => {
    const span = Math.min(all.to - all.from, Math.max((all.to - all.from) * 1e-6, view.to - view.from));
    view.from = Math.max(all.from, Math.min(all.to - span, view.from));
    view.to = view.from + span;
    const tall = Math.min(many, Math.max(Math.min(many, 2), view.bottom - view.top));
    view.top = Math.max(0, Math.min(many - tall, view.top));
    view.bottom = view.top + tall;
    made.redraw();
    strip.redraw();
    clearTimeout(remembering);
    remembering = setTimeout(remember, 300);
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
  const move = (part, ranks) => {
    const [by, down] = [part * (view.to - view.from), ranks * (view.bottom - view.top)];
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
  const onKey = (event) => {
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  };
  const tell = (when, row) => {
    const { rank, times, names } = rows[row];
    const place = lastUntil(times, when);
    if (place < 0 || place >= names.length) return `${rankName(rank)} at ${time(when)}: done`;
    return `${rankName(rank)} at ${time(when)}: ${stateName(names[place])} from ${time(times[place])} for ${time(times[place + 1] - times[place])}`;
  };
  made.canvas.addEventListener("keydown", onKey);
  strip.canvas.addEventListener("keydown", onKey);
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
    if (event.offsetY > frame.height) {
      const number = density[Math.floor((event.offsetX - frame.x) / frame.width * density.length)];
      if (lane && number !== undefined) made.tell(`${time(when)}: messages under way: ${few(number)}`, event.offsetX, event.offsetY);
      return;
    }
    const row = Math.floor(view.top + (event.offsetY - frame.y) / frame.height * (view.bottom - view.top));
    if (row >= 0 && row < many && when >= view.from && when <= view.to) made.tell(tell(when, row), event.offsetX, event.offsetY);
  });
  let brush = null;
  const stripTime = (event) => {
    const margin = marginOf(strip.canvas.clientWidth);
    return (event.offsetX - margin) / (strip.canvas.clientWidth - margin) * map.intervals * map.interval;
  };
  strip.canvas.addEventListener("pointerdown", (event) => {
    brush = stripTime(event);
    strip.canvas.setPointerCapture(event.pointerId);
  });
  strip.canvas.addEventListener("pointerup", () => { brush = null; });
  strip.canvas.addEventListener("pointermove", (event) => {
    const when = stripTime(event);
    if (brush !== null) {
      Object.assign(view, { from: Math.min(brush, when), to: Math.max(brush, when) });
      keep();
    }
    const place = Math.floor(when / map.interval);
    if (place < 0 || place >= map.intervals) return;
    const here = activities.map((name, activity) => [name, totals[place * DONE + activity]]).filter(([, part]) => part > 0.005);
    strip.tell(`${time(when)}: ${here.map(([name, part]) => `${name} ${percent(part)}`).join(", ") || "done"}`, event.offsetX, event.offsetY);
  });

  const button = (text, title, action) => element("button", { type: "button", title, "aria-label": title, onclick: action }, text);
  section("timeline", "Timeline",
    strip.figure,
    element("div", { class: "controls" },
      button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
      button("←", "Earlier", () => move(-0.25, 0)), button("→", "Later", () => move(0.25, 0)),
      many > 2 ? [button("fewer ranks", "Show fewer ranks", () => zoomRows(0.5)), button("more ranks", "Show more ranks", () => zoomRows(2))] : null,
      button("all", "Show everything", reset),
      messages.length ? element("label", {}, element("input", { type: "checkbox", checked: true, onchange: (event) => {
        arrows = event.target.checked;
        made.redraw();
      } }), " messages") : null,
      visits.length ? element("label", {}, element("input", { type: "checkbox", checked: hasPath, onchange: (event) => {
        hasPath = event.target.checked;
        made.redraw();
      } }), " critical path") : null,
      element("span", { class: "faint keys" }, "Drag in the strip to choose a part. Keys: + − ← → ↑ ↓ PgUp PgDn 0")),
    statistics, made.figure, note);
  const linked = /^#timeline=(\d+),(\d+),(\d+),(\d+)$/.exec(location.hash);
  if (linked) {
    const [from, to, top, bottom] = linked.slice(1).map(Number);
    Object.assign(view, { from: from * 1e-9, to: to * 1e-9, top, bottom });
  }
};
