// The timeline at the resolution of a picture: which activity dominates each cell of ranks and time, and by how much.
//
// There are two sources. The map has the shares of all activities for groups of ranks and equal intervals. The states of each rank are
// finer, down to a shortest time. A picture that is finer than the map is made from the states.

/** The states of the ranks: for each its rank and where its states begin, in seconds. */
const stateRows = ({ detail: { states, tick } }) => states.map(({ rank, begin, spans }) => {
  const many = spans.length / 2;
  const [times, names] = [new Float64Array(many + 1), new Uint32Array(many)];
  let now = begin;
  for (let place = 0; place < many; place += 1) {
    times[place] = now * tick * 1e-9;
    names[place] = spans[2 * place + 1];
    now += spans[2 * place];
  }
  times[many] = now * tick * 1e-9;
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

/** The number of "done" beside those of the activities. */
const DONE = 6;

/**
 * A band of the picture: for each of `across` columns the activity that dominates, and its share in 255ths. `shares` has the time of each
 * activity in each column, as part of `whole`.
 */
const dominant = (shares, across, whole) => {
  const [which, strength] = [new Uint8Array(across), new Uint8Array(across)];
  for (let column = 0; column < across; column += 1) {
    let [best, most, all] = [DONE, 0, 0];
    for (let activity = 0; activity < DONE; activity += 1) {
      const share = shares[column * DONE + activity];
      all += share;
      if (share > most) [best, most] = [activity, share];
    }
    if (whole - all > most) [best, most] = [DONE, whole - all];
    which[column] = best;
    strength[column] = Math.min(255, Math.round(255 * most / whole));
  }
  return { which, strength };
};

/** The shares of the activities in states, by the numbers of their names and mixtures: alternately an activity and its share. */
const stateParts = ({ names, mixtures }) => [...names.map(({ activity }) => [activity, 1]), ...mixtures.map((parts) => {
  const all = sum(parts) || 1;
  return parts.flatMap((part, activity) => part > 0 ? [activity, part / all] : []);
})];

/** Adds the states of a rank to the shares of columns, in parts of a column. */
const addStates = (shares, { times, names }, partsOf, from, to, across) => {
  const columnsASecond = across / (to - from);
  for (let place = Math.max(0, lastUntil(times, from)); place < names.length && times[place] < to; place += 1) {
    const begin = Math.max(0, (times[place] - from) * columnsASecond);
    const end = Math.min(across, (times[place + 1] - from) * columnsASecond);
    const [first, last] = [Math.floor(begin), Math.min(across - 1, Math.floor(end))];
    const parts = partsOf[names[place]];
    for (let which = 0; which < parts.length; which += 2) {
      const [activity, part] = [parts[which], parts[which + 1]];
      if (first >= last) {
        if (first < across) shares[first * DONE + activity] += (end - begin) * part;
        continue;
      }
      shares[first * DONE + activity] += (first + 1 - begin) * part;
      for (let column = first + 1; column < last; column += 1) shares[column * DONE + activity] += part;
      shares[last * DONE + activity] += (end - last) * part;
    }
  }
};

/** The bands of a picture of `down` by `across` cells, from the states of the ranks from `top` to `bottom`. */
const bandsOfStates = (rows, partsOf, { from, to, top, bottom }, across, down) => {
  const many = Math.min(down, Math.ceil(bottom) - Math.floor(top));
  const shares = new Float32Array(across * DONE);
  return Array.from({ length: many }, (_, band) => {
    const first = Math.floor(top + band * (bottom - top) / many);
    const last = Math.max(first + 1, Math.floor(top + (band + 1) * (bottom - top) / many));
    shares.fill(0);
    for (let row = first; row < Math.min(rows.length, last); row += 1) addStates(shares, rows[row], partsOf, from, to, across);
    return { ...dominant(shares, across, last - first), first, last };
  });
};

/** The bands from the map; rows are ranks. */
const bandsOfMap = (map, cells, { from, to, top, bottom }, across, down) => {
  const each = map.ranks_per_row;
  const [begin, end] = [Math.floor(top / each), Math.min(map.rows, Math.ceil(bottom / each))];
  const many = Math.min(down, end - begin);
  const shares = new Float32Array(across * DONE);
  return Array.from({ length: many }, (_, band) => {
    const first = begin + Math.floor(band * (end - begin) / many);
    const last = Math.max(first + 1, begin + Math.floor((band + 1) * (end - begin) / many));
    shares.fill(0);
    for (let row = first; row < last; row += 1) {
      for (let column = 0; column < across; column += 1) {
        const interval = Math.min(map.intervals - 1, Math.floor((from + (column + 0.5) / across * (to - from)) / map.interval));
        const cell = (row * map.intervals + interval) * DONE;
        for (let activity = 0; activity < DONE; activity += 1) shares[column * DONE + activity] += cells[cell + activity];
      }
    }
    return { ...dominant(shares, across, 255 * (last - first)), first: first * each, last: last * each };
  });
};

/** The mean share of each activity within a window, from the states. */
const sharesOfStates = (rows, partsOf, { from, to, top, bottom }) => {
  const shares = new Float32Array(DONE);
  const shown = rows.slice(Math.floor(top), Math.ceil(bottom));
  shown.forEach((row) => addStates(shares, row, partsOf, from, to, 1));
  return shares.map((share) => share / shown.length);
};

/** The same from the map. */
const sharesOfMap = (map, cells, { from, to, top, bottom }) => {
  const shares = new Float32Array(DONE);
  const [first, last] = [Math.floor(top / map.ranks_per_row), Math.min(map.rows, Math.ceil(bottom / map.ranks_per_row))];
  const [begin, end] = [Math.floor(from / map.interval), Math.min(map.intervals, Math.ceil(to / map.interval))];
  for (let row = first; row < last; row += 1) {
    for (let place = (row * map.intervals + begin) * DONE; place < (row * map.intervals + end) * DONE; place += 1) shares[place % DONE] += cells[place];
  }
  return shares.map((share) => share / (255 * (last - first) * (end - begin)));
};

/** Stretches of a band with the same activity and about the same strength: [activity, strength from 1 to 4, first column, columns]. */
const stretches = ({ which, strength }) => {
  const found = [];
  for (let column = 0; column < which.length; column += 1) {
    const level = Math.max(1, Math.ceil(strength[column] / 64));
    const last = found[found.length - 1];
    if (last && last[0] === which[column] && last[1] === level) last[3] += 1; else found.push([which[column], level, column, 1]);
  }
  return found;
};
