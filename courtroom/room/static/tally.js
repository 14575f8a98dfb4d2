// The tally: how the votes stand, the threshold as a line, and how votes moved from ballot to ballot.

function tallyPart() {
  const box = el("div", "tally");
  const bars = el("div", "bars"), flow = el("div", "flow");
  box.append(bars, flow);
  let drawn = "", flowDrawn = "";

  /** A bar for each choice; of two, one from each end. */
  function bar(scene, now) {
    const ballot = now.ballot, voting = scene.seats.filter((seat) => seat.votes && seat.place).map((seat) => seat.id);
    // Until the ballot is counted, who has not voted in it stands by the vote before, in the tally as at the seat.
    const before = scene.carries && ballot && !ballot.tally ? [...now.votes].filter(([id]) => voting.includes(id)) : [];
    const votes = new Map([...before, ...(ballot ? ballot.votes : [])]);
    const seats = Math.max(voting.length, votes.size);
    const { counts, abstained } = counted(votes, scene.sides);
    const shown = scene.sides.length <= 2 ? scene.sides : scene.sides.filter((side) => counts.get(side.name) || now.offers.has(side.name)).slice(0, 4);
    const signature = JSON.stringify([ballot && [ballot.name, ballot.votes.size], [...counts], abstained, seats, shown.map((side) => side.name), scene.above]);
    if (signature === drawn) return;
    drawn = signature;
    const waiting = ballot ? seats - ballot.votes.size : 0;
    const still = before.some(([id]) => !ballot.votes.has(id)) ? t("{number} still to vote, shown as they voted before", { number: waiting }) : t("{number} still to vote", { number: waiting });
    const head = el("div", "tally-head");
    for (const side of shown) {
      const one = el("span", "count", null, shape(side, "voted"), el("strong", "", String(counts.get(side.name) || 0)), el("span", "", side.title));
      one.style.setProperty("--tone", `var(--side-${scene.sides.indexOf(side)})`);
      head.append(one);
    }
    const told = [ballot ? ballot.name : t(t("Before the first vote")), abstained ? t("{number} abstained", { number: abstained }) : "", waiting ? still : ""].filter(Boolean).join(" · ");
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
    const needed = ends ? Math.floor(scene.above * seats + 1e-9) + 1 : 0;
    if (ends && needed < seats) {
      for (const at of scene.sides.length === 2 ? [scene.above, 1 - scene.above] : [scene.above]) {
        const threshold = el("span", "threshold"); threshold.style.left = `${at * 100}%`;
        line.append(threshold);
      }
    }
    const ending = !ends ? "" : needed >= seats ? t("All {seats} on one side end the discussion.", { seats }) : t("The lines: {needed} of {seats} on one side end the discussion.", { needed, seats });
    const hears = ballot && scene.ballots && now.ballots.indexOf(ballot) > 0 && scene.seats.some((seat) => (seat.follows || []).length);
    const foot = el("div", "soft tally-foot", [hears && needed >= seats ? "" : ending, hears ? t("Arrows come from who was heard; thick, if named by who came over to them.") : ""].filter(Boolean).join(" "));
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
    const tone = (name) => (name === null ? "var(--soft)" : `var(--side-${scene.sides.findIndex((side) => side.name === name)})`);
    flow.append(flowOf(columns, scene.sides, tone));
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
