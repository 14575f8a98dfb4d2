// The tally: how the votes stand, the threshold as a line, and how votes moved from ballot to ballot.

function tallyPart() {
  const box = el("div", "tally");
  const bars = el("div", "bars"), flow = el("div", "flow");
  box.append(bars, flow);
  let drawn = "", flowDrawn = "";

  /** A bar for each choice; of two, one from each end. */
  function bar(scene, now) {
    const ballot = now.ballot;
    const votes = ballot ? ballot.votes : new Map();
    const seats = Math.max(scene.seats.filter((seat) => seat.votes && seat.place).length, votes.size);
    const { counts, abstained } = counted(votes, scene.sides);
    const shown = scene.sides.length <= 2 ? scene.sides : scene.sides.filter((side) => counts.get(side.name) || now.offers.has(side.name)).slice(0, 4);
    const signature = JSON.stringify([ballot && ballot.name, [...counts], abstained, seats, shown.map((side) => side.name), scene.above]);
    if (signature === drawn) return;
    drawn = signature;
    const waiting = seats - votes.size;
    const head = el("div", "tally-head");
    for (const side of shown) {
      const one = el("span", "count", null, shape(side, "voted"), el("strong", "", String(counts.get(side.name) || 0)), el("span", "", side.title));
      one.style.setProperty("--tone", `var(--side-${scene.sides.indexOf(side)})`);
      head.append(one);
    }
    const told = [ballot ? ballot.name : t(t("Before the first vote")), abstained ? t("{number} abstained", { number: abstained }) : "", waiting && votes.size ? t("{number} still to vote", { number: waiting }) : ""].filter(Boolean).join(" · ");
    head.append(el("span", "soft tally-told", told));
    const line = el("div", "line");
    const segment = (share, tone, from) => { const s = el("span", `segment ${from}`); s.style.width = `${share * 100}%`; s.style.background = tone; return s; };
    if (scene.sides.length === 2) {
      line.append(segment((counts.get(scene.sides[0].name) || 0) / seats, "var(--side-0)", "left"), segment((counts.get(scene.sides[1].name) || 0) / seats, "var(--side-1)", "right"));
    } else {
      let from = 0;
      for (const side of shown) {
        const share = (counts.get(side.name) || 0) / seats, made = segment(share, `var(--side-${scene.sides.indexOf(side)})`, "left");
        made.style.left = `${from * 100}%`; from += share; line.append(made);
      }
    }
    const ends = scene.above !== null && scene.above < 1;
    if (ends) {
      for (const at of scene.sides.length === 2 ? [scene.above, 1 - scene.above] : [scene.above]) {
        const threshold = el("span", "threshold"); threshold.style.left = `${at * 100}%`;
        line.append(threshold);
      }
    }
    const foot = el("div", "soft tally-foot", ends ? t("The lines: more than {share} % of the seats on one side end the discussion.", { share: Math.round(scene.above * 100) }) : "");
    line.setAttribute("role", "img");
    line.setAttribute("aria-label", shown.map((side) => `${side.title} ${counts.get(side.name) || 0}`).join(", "));
    bars.replaceChildren(head, line, foot);
  }

  /** Columns of votes with bands between them, one column a ballot. */
  function bands(scene, now) {
    const columns = scene.carries ? now.ballots : [];
    const signature = JSON.stringify(columns.map((ballot) => [ballot.path, ballot.votes.size]));
    if (signature === flowDrawn) return;
    flowDrawn = signature;
    flow.replaceChildren();
    flow.hidden = columns.length < 2;
    if (columns.length < 2) return;
    const width = 300, height = 74, thick = 12, names = [...scene.sides.map((side) => side.name), null];
    const tone = (name) => (name === null ? "var(--soft)" : `var(--side-${scene.sides.findIndex((side) => side.name === name)})`);
    const drawnFlow = svg("svg", { viewBox: `0 0 ${width} ${height + 14}`, role: "img" });
    const told = [], called = (name) => (name === null ? t("abstained") : (scene.sides.find((side) => side.name === name) || { title: name }).title);
    const place = columns.map((ballot, n) => {
      const total = Math.max(1, ballot.votes.size), x = columns.length > 1 ? n * (width - thick) / (columns.length - 1) : 0;
      let y = 0; const found = new Map();
      for (const name of names) {
        const number = [...ballot.votes.values()].filter((vote) => (vote.choice || null) === name).length;
        if (!number) continue;
        const h = number / total * (height - 6);
        found.set(name, { x, y, h, out: y, in: y });
        drawnFlow.append(svg("rect", { x, y, width: thick, height: h, rx: 2, fill: tone(name) }));
        y += h + 3;
      }
      const label = svg("text", { x: n === 0 ? 0 : n === columns.length - 1 ? width : x + thick / 2, y: height + 11, "text-anchor": n === 0 ? "start" : n === columns.length - 1 ? "end" : "middle" });
      label.textContent = ballot.name; drawnFlow.append(label);
      return found;
    });
    for (let n = 0; n + 1 < columns.length; n += 1) {
      const unit = (height - 6) / Math.max(1, columns[n].votes.size), unitNext = (height - 6) / Math.max(1, columns[n + 1].votes.size);
      for (const a of names) for (const b of names) {
        const number = [...columns[n].votes].filter(([member, vote]) => (vote.choice || null) === a && columns[n + 1].votes.has(member) && (columns[n + 1].votes.get(member).choice || null) === b).length;
        if (!number) continue;
        if (a !== b) told.push(t("{number} from {before} to {now}", { number, before: called(a), now: called(b) }));
        const from = place[n].get(a), to = place[n + 1].get(b);
        const x1 = from.x + thick, x2 = to.x, half = (x1 + x2) / 2;
        const d = `M${x1} ${from.out}C${half} ${from.out} ${half} ${to.in} ${x2} ${to.in}L${x2} ${to.in + number * unitNext}C${half} ${to.in + number * unitNext} ${half} ${from.out + number * unit} ${x1} ${from.out + number * unit}Z`;
        drawnFlow.append(svg("path", { d, fill: tone(a), class: "band" }));
        from.out += number * unit; to.in += number * unitNext;
      }
    }
    drawnFlow.setAttribute("aria-label", t("How votes moved: {moves}", { moves: told.join(", ") || t("nobody changed sides") }));
    flow.append(drawnFlow);
  }

  return {
    element: box,
    draw(scene, now) {
      box.hidden = !scene.sides.length;
      if (box.hidden) return;
      bar(scene, now); bands(scene, now);
    },
  };
}
