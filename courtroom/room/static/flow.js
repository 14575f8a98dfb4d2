// How votes moved: a column of votes for each ballot, and bands between them for those who went the same way.

/**
 * The drawing.
 * @param columns ballots in order: `name`, and `votes` by member.
 * @param tone the colour of a choice by its name; null is an abstention.
 * @param letter how much room a letter below the columns takes; a name that would run into another one is left out.
 */
function flowOf(columns, sides, tone, { width = 300, height = 74, thick = 12, letter = 6.5 } = {}) {
  const names = [...sides.map((side) => side.name), null];
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height + 14}`, role: "img" });
  const told = [], called = (name) => (name === null ? t("abstained") : (sides.find((side) => side.name === name) || { title: name }).title);
  // One scale for all: in a ballot that goes on, those who have still to vote leave their part empty.
  const unit = (height - 6) / Math.max(1, ...columns.map((ballot) => ballot.votes.size));
  const place = columns.map((ballot, n) => {
    const x = columns.length > 1 ? n * (width - thick) / (columns.length - 1) : 0;
    let y = 0; const found = new Map();
    for (const name of names) {
      const number = [...ballot.votes.values()].filter((vote) => (vote.choice || null) === name).length;
      if (!number) continue;
      const h = number * unit;
      found.set(name, { x, y, h, out: y, in: y });
      drawing.append(svg("rect", { x, y, width: thick, height: h, rx: 2, fill: tone(name) }, tip(`${ballot.name}: ${called(name)} ${number}`)));
      y += h + 3;
    }
    return found;
  });
  const last = columns.length - 1, long = (text) => [...text].reduce((sum, one) => sum + (one > "\u2e7f" ? 2 : 1), 0) * letter;
  const ending = last < 0 ? 0 : width - long(columns[last].name);
  let taken = -letter;
  columns.forEach((ballot, n) => {
    const middle = last ? n * (width - thick) / last + thick / 2 : thick / 2;
    const begin = n === 0 ? 0 : n === last ? ending : middle - long(ballot.name) / 2, end = begin + long(ballot.name);
    if (n > 0 && n < last && (begin < taken + letter || end > ending - letter)) return;
    taken = end;
    const label = svg("text", { x: n === 0 ? 0 : n === last ? width : middle, y: height + 11, "text-anchor": n === 0 ? "start" : n === last ? "end" : "middle" });
    label.textContent = ballot.name; drawing.append(label);
  });
  for (let n = 0; n + 1 < columns.length; n += 1) {
    for (const a of names) for (const b of names) {
      const number = [...columns[n].votes].filter(([member, vote]) => (vote.choice || null) === a && columns[n + 1].votes.has(member) && (columns[n + 1].votes.get(member).choice || null) === b).length;
      if (!number) continue;
      const moved = t("{number} from {before} to {now}", { number, before: called(a), now: called(b) });
      if (a !== b) told.push(moved);
      const from = place[n].get(a), to = place[n + 1].get(b);
      const x1 = from.x + thick, x2 = to.x, half = (x1 + x2) / 2;
      const d = `M${x1} ${from.out}C${half} ${from.out} ${half} ${to.in} ${x2} ${to.in}L${x2} ${to.in + number * unit}C${half} ${to.in + number * unit} ${half} ${from.out + number * unit} ${x1} ${from.out + number * unit}Z`;
      drawing.append(svg("path", { d, fill: tone(a), class: "band" }, tip(moved)));
      from.out += number * unit; to.in += number * unit;
    }
  }
  drawing.setAttribute("aria-label", t("How votes moved: {moves}", { moves: told.join(", ") || t("nobody changed sides") }));
  return drawing;

  function tip(text) { const made = svg("title"); made.textContent = text; return made; }
}
