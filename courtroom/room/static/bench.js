// The bench: a seat for each member, who speaks lit up, and in the middle what is being said.

const MUCH = 150;

/** Draws the seats once, and then only what differs. */
function benchPart(open) {
  const floor = el("div", "floor");
  const arrows = svg("svg", { class: "arrows", "aria-hidden": "true" });
  const marker = svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8Z" }));
  const lines = svg("g");
  arrows.append(svg("defs", {}, marker), lines);
  const offers = el("div", "offers");
  const speech = el("div", "speech"); speech.tabIndex = 0;
  const speechHead = el("div", "speech-head"), speechText = el("div", "speech-text"), speechFoot = el("div", "speech-foot");
  speech.append(speechHead, speechText, speechFoot);
  speech.addEventListener("scroll", () => speech.classList.toggle("at-end", speech.scrollTop + speech.clientHeight > speech.scrollHeight - 6), { passive: true });
  const tip = el("div", "tip"); tip.hidden = true; tip.setAttribute("role", "tooltip");
  floor.append(arrows, speech, offers, tip);
  const seats = new Map();
  let scene = null, now = null, hovered = "", speaking = new Set(), box = { width: 0, height: 0 };

  const side = (name) => scene.sides.find((one) => one.name === name);
  const person = (id) => scene.seats.find((one) => one.id === id);

  function seat(member) {
    const made = button("seat", null, "", () => open(member.id));
    made.removeAttribute("title");
    const figure = el("span", "figure"), name = el("span", "name", member.name), word = el("span", "word"), badge = el("span", "badge");
    badge.hidden = true; figure.setAttribute("aria-hidden", "true");
    made.append(figure, name, " ", word);
    for (const [enter, leave] of [["mouseenter", "mouseleave"], ["focus", "blur"]]) {
      made.addEventListener(enter, () => { hovered = member.id; hint(member); arrowsNow(); });
      made.addEventListener(leave, () => { hovered = ""; tip.hidden = true; arrowsNow(); });
    }
    return { made, figure, name, word, badge, drawn: "" };
  }

  function hint(member) {
    const last = now.last.get(member.id), vote = now.votes.get(member.id);
    tip.replaceChildren(el("strong", "", member.name), el("div", "soft", member.about || `${member.role} · ${member.model}`));
    if (vote) tip.append(el("div", "", voteWords(vote)));
    if (last) tip.append(el("div", "tip-said", firstWords(last)));
    tip.hidden = false;
    const [x, y] = member.place;
    tip.style.left = `${Math.min(80, Math.max(20, x))}%`;
    tip.style.top = y < 50 ? `calc(${y}% + 3.4rem)` : ""; tip.style.bottom = y < 50 ? "" : `calc(${100 - y}% + 3.4rem)`;
  }

  function voteWords(vote) {
    const word = vote.choice ? (side(vote.choice) || { title: vote.choice }).title : t("abstained");
    if (vote.given === "set") return t("{choice} (set)", { choice: word });
    return changed(vote) ? t("{now}, was {before}", { now: word, before: (side(vote.before) || { title: vote.before }).title }) : word;
  }

  function drawSeat(member) {
    const one = seats.get(member.id), vote = now.votes.get(member.id), offered = [...now.offers].find(([, call]) => call.member === member.id);
    const chosen = vote ? vote.choice && side(vote.choice) : offered && side(offered[0]);
    const spoke = now.last.has(member.id);
    const said = scene.seating === "rows" && spoke ? firstWords(now.last.get(member.id)) : "";
    const state = vote ? (vote.choice ? "voted" : "abstained") : offered ? "voted" : spoke ? "spoke" : "silent";
    const stale = Boolean(vote && now.ballot && vote.ballot !== now.ballot.path);
    const word = vote ? (chosen ? (vote.given === "set" ? voteWords(vote) : chosen.title) : t("abstained")) : offered ? t("for {choice}", { choice: chosen ? chosen.title : offered[0] }) : member.votes ? (scene.sides.length && (!now.ballots.length || (now.ballot.stage === now.moment.stage)) ? t("no vote yet") : "") : member.role === member.name.replace(/ \d+$| [A-Z]$/, "") ? "" : member.role;
    // At the end a badge tells of all rounds.
    const everMoved = now.moment && now.moment.kind === "verdict" && now.ballots.some((ballot) => changed(ballot.votes.get(member.id)));
    const lit = speaking.has(member.id), moved = everMoved || (changed(vote) && !stale);
    const drawn = [state, chosen && chosen.name, stale, word, lit, moved, said].join("|");
    if (drawn === one.drawn) return;
    one.drawn = drawn;
    one.made.className = `seat ${state}${stale ? " stale" : ""}${lit ? " lit" : ""}${moved ? " moved" : ""}${member.votes ? "" : " other"}`;
    const short = el("span", "initials"); short.dataset.short = initials(member);  // drawn, not read out
    one.figure.replaceChildren(shape(chosen || null, state), short, one.badge);
    one.figure.style.setProperty("--tone", chosen ? `var(--side-${scene.sides.indexOf(chosen)})` : "var(--soft)");
    one.badge.hidden = !moved;
    say(one.word, said || word);
    // The name that is spoken begins with the words that are seen.
    const seen = [member.name, said || word].filter(Boolean).join(" ");
    const told = [seen, member.role, vote && voteWords(vote) !== word ? voteWords(vote) : "", lit ? t("speaks now") : ""].filter(Boolean).join(", ");
    one.made.setAttribute("aria-label", told);
  }

  function initials(member) {
    const name = member.name.split(/ \(|（/)[0], words = name.split(/\s+/).filter(Boolean);
    if (words.length > 1) return words[0][0] + words[words.length - 1][0];
    return name !== member.role && /[\u3400-\u9fff]/.test(name) ? name.slice(-2) : name.slice(0, 2);
  }

  function arrowsNow() {
    const drawn = [];
    const at = now && now.ballot ? now.ballots.indexOf(now.ballot) : 0;
    if (scene && at > 0) {
      const before = now.ballots[at - 1];
      for (const member of scene.seats) {
        if (!member.place) continue;
        const vote = now.ballot.votes.get(member.id);
        for (const other of member.follows || []) {
          const theirs = before.votes.get(other);
          const near = member.id === hovered || (!hovered && speaking.has(member.id) && speaking.size < 4);
          const from = person(other), said = now.last.get(member.id);
          if (!from || !from.place) continue;
          const named = said && allWords(said).includes(from.name);
          const over = named && changed(vote) && theirs && theirs.choice === vote.choice && (near || now.moment.kind === "tally");
          if (!over && !near) continue;
          const [x1, y1] = [from.place[0] * box.width / 100, from.place[1] * box.height / 100];
          const [x2, y2] = [member.place[0] * box.width / 100, member.place[1] * box.height / 100];
          const length = Math.hypot(x2 - x1, y2 - y1) || 1, cut = 38;
          const ux = (x2 - x1) / length, uy = (y2 - y1) / length;
          const [a, b, c, d] = [x1 + ux * cut, y1 + uy * cut, x2 - ux * cut, y2 - uy * cut];
          // Bent to one side, so that two arrows between the same seats stay apart.
          const bend = `M${a} ${b}Q${(a + c) / 2 - uy * length * 0.12} ${(b + d) / 2 + ux * length * 0.12} ${c} ${d}`;
          drawn.push(svg("path", { d: bend, class: over ? "arrow over" : "arrow near", "marker-end": "url(#tip)" }));
        }
      }
    }
    lines.replaceChildren(...drawn);
  }

  function words(head, text, foot, kind) {
    speech.className = `speech ${kind}${text.length > MUCH ? " much" : ""}`;
    if (speechText.textContent !== text) speech.scrollTop = 0;
    say(speechHead, head); say(speechText, text); say(speechFoot, foot);
    requestAnimationFrame(clear);  // when the page is laid out anyway
  }

  /** What is said stands in the largest box in the middle into which no seat reaches, and is scrolled where it is longer. */
  function clear() {
    if (scene.seating === "rows") speech.removeAttribute("style"); else if (box.width) place();
    speech.classList.remove("longer");
    speech.classList.toggle("longer", speech.scrollHeight > speech.clientHeight + 2);
  }

  function place() {
    const { width, height } = box;
    const taken = [...seats.values()].map(({ made }) => ({ across: made.offsetLeft, half: made.offsetWidth / 2, middle: made.offsetTop, high: made.offsetHeight / 2 }));
    if (now.offers.size) taken.push({ across: width / 2, half: width / 2, middle: offers.offsetTop + offers.offsetHeight / 2, high: offers.offsetHeight / 2 });
    let best = { area: 0 };
    for (let share = 0.9; share > 0.28; share -= 0.04) {
      const half = (width * share) / 2, near = taken.filter((one) => Math.abs(one.across - width / 2) < half + one.half);
      const above = near.filter((one) => one.middle < height * 0.45).map((one) => one.middle + one.high), below = near.filter((one) => one.middle >= height * 0.45).map((one) => one.middle - one.high);
      const top = Math.max(6, ...above) + 4, high = Math.min(height - 6, ...below) - 4 - top;
      if (high > 70 && 2 * half * high > best.area) best = { area: 2 * half * high, half, top, high };
    }
    if (best.area) Object.assign(speech.style, { left: `${width / 2 - best.half}px`, width: `${2 * best.half}px`, top: `${best.top}px`, maxHeight: `${best.high}px`, minHeight: `${best.high}px`, transform: "none" });
  }

  function speak(live) {
    const moment = now.moment, sideOf = (name) => (side(name) || { title: name, mark: "" });
    const counts = (m) => Object.entries(m || {}).map(([name, number]) => `${sideOf(name).mark} ${sideOf(name).title} ${number}`.trim()).join("   ");
    if (live.length) {
      const one = live.find((call) => (call.parts || []).length) || live[0];
      const who = live.length > 1 ? t("{name} and {others} more", { name: (person(one.member) || { name: one.member }).name, others: live.length - 1 }) : (person(one.member) || { name: one.member }).name;
      return words(who, one.parts && one.parts.length ? one.parts[0].text : t(t("thinking …")), one.title, "said live");
    }
    if (!moment) return words("", scene.status === "running" ? t("The members take their seats.") : t("Nothing has happened yet."), "", "plain");
    if (moment.kind === "verdict" && scene.verdict) {
      const real = Object.keys(scene.real || {}).length ? `${scene.real_title}: ${counts(scene.real)}` : "";
      const stood = [counts(scene.verdict.counts), real].filter(Boolean).join("  ·  ") || scene.verdict.summary;
      return words(scene.ending, scene.verdict.outcome, [scene.verdict.note, stood, ...(scene.verdict.turnout || [])].filter(Boolean).join("  ·  "), scene.verdict.outcome.length > 60 ? "long verdict" : "verdict");
    }
    if (moment.kind === "stage") return words("", moment.title, "", "stage");
    if (moment.kind === "tally") return words(scene.ballots[moment.ballot] || "", counts(moment.counts), moment.above && scene.carries ? t(t("Enough agree: the discussion ends.")) : "", "count");
    if (moment.kind === "act" || moment.kind === "note" || moment.kind === "look") return words({ act: t("Intervention"), note: t("Note"), look: t("Looked up") }[moment.kind], [moment.title, allWords(moment)].filter(Boolean).join("\n"), "", "said");
    const call = now.called;
    if (!call) return words("", now.stage ? now.stage.title : "", "", "stage");
    const who = person(call.member);
    const vote = now.votes.get(call.member), told = vote && vote.call === call.path ? voteWords(vote) : "";
    return words(who ? who.name : call.member, allWords(call), [told, call.title].filter(Boolean).join(" · "), `said${told && changed(vote) ? " moved" : ""}`);
  }

  function offersNow() {
    const wanted = [...now.offers];
    const signature = JSON.stringify(wanted.map(([name, call]) => [name, call.path, counted(now.votes, scene.sides).counts.get(name)]));
    if (offers.dataset.drawn === signature) return;
    offers.dataset.drawn = signature;
    offers.replaceChildren(...wanted.map(([name, call]) => {
      const of = side(name) || { title: name, mark: "" };
      const card = el("div", "offer");
      card.style.setProperty("--tone", `var(--side-${scene.sides.indexOf(side(name))})`);
      const head = el("div", "offer-head", null, shape(of.symbol ? of : null, "voted"), el("strong", "", of.title), el("span", "soft", (person(call.member) || {}).name || ""));
      card.append(head, el("div", "offer-text", firstWords(call)));
      return card;
    }));
  }

  // To ask for the size while drawing would have the browser lay out the whole page at once.
  new ResizeObserver(([entry]) => {
    box = { width: entry.borderBoxSize[0].inlineSize, height: entry.borderBoxSize[0].blockSize };
    if (now) { arrowsNow(); clear(); }
  }).observe(floor);

  return {
    element: floor,
    draw(newScene, standingNow, live) {
      scene = newScene; now = standingNow;
      speaking = new Set(live.length ? live.map((call) => call.member) : now.speaker ? [now.speaker] : []);
      const seated = scene.seats.filter((member) => member.place);
      floor.dataset.seating = scene.seating;
      floor.classList.toggle("many", seated.length > 24); floor.classList.toggle("crowded", seated.length > 10); floor.classList.toggle("few", speaking.size < 4);
      for (const [id, one] of seats) if (!seated.some((member) => member.id === id)) { one.made.remove(); seats.delete(id); }
      for (const member of seated) {
        if (!seats.has(member.id)) { const one = seat(member); seats.set(member.id, one); floor.append(one.made); }
        const { style } = seats.get(member.id).made;  // who joins later changes where all sit
        style.left = `${member.place[0]}%`; style.top = `${member.place[1]}%`;
        drawSeat(member);
      }
      floor.classList.toggle("offered", now.offers.size > 0);
      floor.classList.toggle("ended", Boolean(now.moment && now.moment.kind === "verdict"));
      offersNow(); speak(live); arrowsNow();
    },
    focus(id) { const one = seats.get(id); if (one) one.made.focus(); },
  };
}
