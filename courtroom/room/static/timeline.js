// The timeline: stages, calls, changes of mind, interventions and summaries on one track; drag, play, step.

const SPEEDS = [1, 2, 4, 8, 16];
const STANDS_S = { stage: 1.4, call: 1.4, vote: 0.2, tally: 3, look: 0.6, act: 3, note: 0.8, verdict: 4 };
const MOVED_S = 6, PASSED_S = 0.6, MOVES_LATER_S = 3.5;
const SHOWN_S = 115;  // for somebody who has just come, and stays two minutes
const CHARACTERS_A_SECOND = 18;

/** Seconds for which a moment stands: long enough to see who speaks and how they vote; a change of mind, and what was said before it, longer. */
function stands(moment, passed, movesLater) {
  if (changed(moment)) return MOVED_S;
  return passed ? PASSED_S : movesLater ? MOVES_LATER_S : STANDS_S[moment.kind] || 1;
}

/** Seconds that it takes to read all of a moment, at least those for which it stands; a Chinese character counts as two. */
function reads(moment, passed) {
  const text = moment.kind === "call" ? allWords(moment) : [moment.title, allWords(moment)].filter(Boolean).join("\n");
  return Math.max(stands(moment, passed), (text.length + (text.match(/[\u3400-\u9fff]/g) || []).length) / CHARACTERS_A_SECOND);
}

function timelinePart(go, present, recounting) {
  const box = el("section", "timeline"); box.setAttribute("aria-label", t("Timeline"));
  const play = button("act go", "▶", t("Play"), () => (timer ? stop() : start()));
  const back = button("act", "◀", t("One step back"), () => { stop(); go(at - 1); });
  const next = button("act", "▶▏", t("One step on"), () => { stop(); go(at + 1); });
  const end = button("act end", t("Live"), t("To the end"), () => { stop(); go(Infinity); });
  const speed = el("select", "pick"); speed.setAttribute("aria-label", t("Speed"));
  fill(speed, [["read", t("To read")], ...SPEEDS.map((times) => [String(times), `${times}×`])]); speed.value = "read";
  const told = el("span", "soft told"), range = el("input", "range");
  range.type = "range"; range.min = "0"; range.max = "1000"; range.step = "any"; range.setAttribute("aria-label", t(t("Moment of the run")));
  range.addEventListener("input", () => { stop(); go(nearest(Number(range.value) / 1000)); });
  const stages = el("div", "stages"), marks = el("div", "marks"), ticks = svg("svg", { class: "ticks", viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  const head = el("span", "playhead");
  const rail = el("div", "rail", null, stages, ticks, marks, head, range);
  const presenting = button("act wide", t("Present"), t("Fill the screen with large type"), present);
  const again = button("act wide", t("Recount"), t("Count the votes by other rules"), recounting);
  box.append(el("div", "row", null, back, play, next, speed, end, told, el("span", "grow"), again, presenting), rail);
  let scene = null, at = -1, timer = null, drawn = "", positions = { at: [], each: [] }, pace = 1;
  speed.addEventListener("change", () => { pace = 1; });

  function start() {
    if (at >= scene.moments.length - 1) go(0);
    play.textContent = "❚❚"; play.setAttribute("aria-label", t("Pause")); play.title = t("Pause");
    timer = true; tick();
  }
  function tick() {
    const moment = scene.moments[at];
    const seconds = !moment ? 0.4 : speed.value === "read" ? reads(moment, isPassed(at)) : shown(at) / Number(speed.value);
    timer = setTimeout(() => {
      go(at + 1);
      if (!timer) return;
      // A run that still goes on, or is about to begin, is played on as it comes in.
      if (at < scene.moments.length - 1 || scene.status === "running" || !scene.moments.length) tick(); else stop();
    }, seconds * 1000);
  }
  /** Whether a watcher passes over a moment once somebody has voted: nobody votes there, or who speaks voted before. A change stands by itself. */
  function isPassed(index) {
    const moment = scene.moments[index], voted = scene.moments.slice(0, index).filter((one) => one.kind === "vote");
    return positions.each[index] < WEIGHT.vote ? voted.length > 0 : moment.kind === "call" && voted.some((one) => one.member === moment.member);
  }
  /** Seconds for which a moment is shown: all but the changes go at the pace. */
  function shown(index) {
    const moment = scene.moments[index];
    const movesLater = moment.kind === "call" && scene.moments.slice(index).some((one) => one.member === moment.member && changed(one));
    return stands(moment, isPassed(index), movesLater) * (changed(moment) ? 1 : pace);
  }
  function stop() {
    clearTimeout(timer); timer = null;
    play.textContent = "▶"; play.setAttribute("aria-label", t("Play")); play.title = t("Play");
  }

  /** The moment whose place on the track is nearest: the track gives moments room by their weight. */
  function nearest(place) {
    let best = 0;
    positions.at.forEach((one, index) => { if (Math.abs(one - place) < Math.abs(positions.at[best] - place)) best = index; });
    return best;
  }

  function rails() {
    const signature = `${scene.run}|${scene.moments.length}|${scene.stages_to_come.length}|${scene.ended.length}|${scene.status}`;
    if (signature === drawn) return;
    drawn = signature;
    positions = track(scene.moments);
    const share = scene.stages_to_come.length ? 1 - Math.min(0.3, 0.06 * scene.stages_to_come.length) : 1;
    const left = (index) => (index < 0 ? 0 : positions.at[index] * share * 100);
    rail.style.setProperty("--share", String(share));
    const begun = scene.moments.map((m, i) => [m, i]).filter(([m]) => m.kind === "stage");
    stages.replaceChildren(...begun.map(([moment, index], n) => {
      const from = left(index - 1), to = n + 1 < begun.length ? left(begun[n + 1][1] - 1) : share * 100;
      const done = scene.ended.includes(moment.path);
      const one = button("stage", `${done ? "✓" : "▸"} ${moment.title}`, t("Go to {title}", { title: moment.title }), () => { stop(); go(index); });
      one.style.left = `${from}%`; one.style.width = `calc(${to - from}% - 3px)`;
      return one;
    }), ...scene.stages_to_come.map((title, n) => {
      const one = el("span", "stage to-come", title); const each = (1 - share) * 100 / scene.stages_to_come.length;
      one.style.left = `${share * 100 + n * each}%`; one.style.width = `calc(${each}% - 3px)`; one.title = t("{title}: to come", { title });
      return one;
    }));
    const voting = new Set(scene.seats.filter((seat) => seat.votes).map((seat) => seat.id));
    const balloted = new Set(scene.moments.filter((m) => m.kind === "vote").map((m) => m.stage));
    ticks.replaceChildren(svg("path", { d: scene.moments.map((m, i) => (m.kind === "call" ? `M${(left(i) * 10).toFixed(1)} 0V10` : "")).join("") }));
    const kinds = [];
    scene.moments.forEach((moment, i) => {
      const name = moment.kind === "act" ? ["act", "✋", moment.title]
        : moment.kind === "vote" && changed(moment) ? ["moved", "↻", t("{name} changes to {choice}", { name: (scene.seats.find((s) => s.id === moment.member) || {}).name, choice: (scene.sides.find((s) => s.name === moment.choice) || { title: moment.choice }).title })]
        : moment.kind === "call" && !voting.has(moment.member) && balloted.has(moment.stage) && !moment.side ? ["summary", "≡", moment.title]
        : moment.kind === "tally" ? ["tally-mark", "Σ", scene.ballots[moment.ballot] || t("Count")]
        : moment.kind === "verdict" ? ["verdict-mark", "§", scene.ending] : null;
      if (name) kinds.push([i, ...name]);
    });
    marks.replaceChildren(...kinds.map(([index, kind, glyph, title]) => {
      const one = button(`mark ${kind}`, glyph, title, () => { stop(); go(index); });
      one.tabIndex = -1;  // the track itself is stepped by arrow keys
      one.style.left = `${left(index)}%`;
      return one;
    }));
    range.style.width = `${share * 100}%`;
  }

  return {
    filling(on) { presenting.textContent = on ? t("Close") : t("Present"); },
    element: box, stop,
    playing: () => timer !== null,
    start,
    /** Play for somebody who has just come: who votes how and who changes, in two minutes; to read all takes far longer. */
    show() {
      speed.value = "1"; pace = 1;
      const lasts = (moves) => scene.moments.reduce((whole, one, index) => whole + (changed(one) === moves ? shown(index) : 0), 0);
      pace = Math.max(0.5, Math.min(1, (SHOWN_S - lasts(true)) / lasts(false)));
      start();
    },
    draw(newScene, newAt) {
      scene = newScene; at = newAt;
      rails();
      const place = at < 0 ? 0 : positions.at[at] || 0;
      if (nearest(Number(range.value) / 1000) !== at) range.value = String(place * 1000);
      const share = Number(rail.style.getPropertyValue("--share")) || 1;
      head.style.left = `${place * share * 100}%`;
      const moment = scene.moments[at], running = scene.status === "running", atEnd = at >= scene.moments.length - 1;
      range.setAttribute("aria-valuetext", moment ? moment.title || moment.kind : t(t("nothing yet")));
      say(told, moment ? t("{at} of {whole}", { at: at + 1, whole: scene.moments.length }) : "");
      end.textContent = running ? `● ${t("Live")}` : t("End");
      end.classList.toggle("on", running && atEnd);
      end.disabled = atEnd && !running;
      again.hidden = !scene.moments.slice(0, at + 1).some((one) => one.kind === "vote"); // of what stands there, nothing is counted yet
    },
  };
}
