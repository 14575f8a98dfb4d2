// The transcript: who said what, the newest in view; sentences grow while they stream in.

const WINDOW = 80;

function transcriptPart(hooks) {
  const box = el("section", "transcript"); box.setAttribute("aria-label", t("Transcript"));
  const who = el("select", "pick"), stage = el("select", "pick");
  who.setAttribute("aria-label", t(t("Whose words"))); stage.setAttribute("aria-label", t(t("Which stage")));
  const list = el("div", "list"); list.tabIndex = 0; list.setAttribute("role", "log"); list.setAttribute("aria-live", "off");
  list.setAttribute("aria-label", t(t("What was said")));
  const past = el("div"), streams = el("div"), earlier = button("earlier", t(t("Show earlier")), "", () => { shown += WINDOW; redraw(); });
  list.append(earlier, past, streams);
  box.append(el("div", "filters", null, who, stage), list);
  const made = new Map(), live = new Map();
  let scene = null, at = -1, votes = new Map(), shown = WINDOW, keys = [], streaming = [], stuck = true, placed = 0;

  who.addEventListener("change", () => { shown = WINDOW; stuck = true; redraw(); });
  stage.addEventListener("change", () => { shown = WINDOW; stuck = true; redraw(); });
  list.addEventListener("scroll", () => { stuck = Math.abs(list.scrollTop - placed) < 8 || list.scrollHeight - list.scrollTop - list.clientHeight < 8; });

  /** The newest line in view: of one that is longer than the list, its beginning. */
  const atNewest = () => {
    const newest = streams.lastElementChild || past.lastElementChild;
    if (!stuck || !newest) return;
    placed = Math.max(0, Math.min(list.scrollHeight - list.clientHeight, newest.offsetTop - 6));
    list.scrollTop = placed;
  };
  new ResizeObserver(atNewest).observe(list);

  const person = (id) => scene.seats.find((one) => one.id === id) || { id, name: id };
  const side = (name) => scene.sides.find((one) => one.name === name);

  function chip(vote) {
    const of = vote.choice && side(vote.choice);
    const one = el("span", "chip", null, shape(of || null, vote.choice ? "voted" : "abstained"), el("span", "", vote.choice ? (of ? of.title : vote.choice) : t("abstained")));
    one.style.setProperty("--tone", of ? `var(--side-${scene.sides.indexOf(of)})` : "var(--soft)");
    if (changed(vote)) one.append(el("span", "was", `↻ ${t("was {before}", { before: (side(vote.before) || { title: vote.before }).title })}`));
    return one;
  }

  function line(moment) {
    if (moment.kind !== "call") {
      const mark = { act: "✋ ", note: "ℹ ", look: "⌕ " }[moment.kind] || "";
      const told = moment.kind === "tally" ? tallied(moment) : moment.kind === "verdict" && scene.verdict ? `${scene.ending}: ${scene.verdict.outcome}` : mark + moment.title;
      return el(moment.kind === "stage" ? "h4" : "p", `aside-line k-${moment.kind}`, told, ...(moment.parts && moment.parts.length ? [partsOf(moment)] : []));
    }
    const one = el("article", "line-said"), head = el("header");
    const name = button("who", person(moment.member).name, "", () => hooks.open(moment.member));
    head.append(name, el("span", "soft", moment.title));
    if (moment.person) head.append(el("span", "chip", t("a person")));
    const vote = el("span", "vote-slot"); head.append(vote);
    if (hooks.call) head.append(hooks.call(moment.path, t("Open the call of {name}: {title}", { name: person(moment.member).name, title: moment.title })));
    one.append(head, partsOf(moment, !votes.has(moment.path)));
    one.vote = vote;
    return one;
  }

  function tallied(moment) {
    const told = Object.entries(moment.counts || {}).map(([name, number]) => `${(side(name) || { title: name }).title} ${number}`).join(", ");
    return `${scene.ballots[moment.ballot] || ""}: ${told}${moment.abstained ? `, ${t("{number} abstained", { number: moment.abstained })}` : ""}${moment.above && scene.carries && scene.seats.filter((one) => one.votes).length > 1 ? `. ${t("Enough agree.")}` : ""}`;
  }

  function key(moment, index) { return moment.kind === "call" ? moment.path : `${index}-${moment.kind}`; }

  function fits(moment) {
    if (moment.kind === "vote") return false;
    if (stage.value && moment.stage !== stage.value) return false;
    return who.value ? moment.member === who.value : true;
  }

  function redraw() {
    const wanted = [];
    for (let i = 0; i <= at && i < scene.moments.length; i += 1) if (fits(scene.moments[i])) wanted.push([key(scene.moments[i], i), scene.moments[i]]);
    const window = wanted.slice(-shown);
    earlier.hidden = wanted.length <= shown;
    const names = window.map(([name]) => name);
    for (const [name, moment] of window) if (!made.has(name)) made.set(name, line(moment));
    const grown = keys.length && keys.length <= names.length && keys.every((name, n) => name === names[n]);
    if (grown) past.append(...names.slice(keys.length).map((name) => made.get(name)));
    else if (names.join() !== keys.join()) past.replaceChildren(...names.map((name) => made.get(name)));
    keys = names;
    const spoken = scene.moments[at] && (scene.moments[at].kind === "vote" ? scene.moments[at].call : scene.moments[at].path);
    for (const [name, moment] of window) {
      if (moment.kind !== "call") continue;
      made.get(name).classList.toggle("now", moment.path === spoken);
      const found = votes.get(moment.path), slot = made.get(name).vote;
      if (found && found.index <= at && !slot.firstChild) slot.append(chip(found.vote));
      if ((!found || found.index > at) && slot.firstChild) slot.replaceChildren();
    }
    drawStreams();
    requestAnimationFrame(atNewest);  // when the page is laid out anyway
  }

  function drawStreams() {
    const open = streaming.filter((call) => (call.parts || []).length && (!who.value || call.member === who.value) && !stage.value);
    for (const [path, one] of live) if (!open.some((call) => call.path === path)) { one.element.remove(); live.delete(path); }
    for (const call of open) {
      if (!live.has(call.path)) {
        const element = el("article", "line-said live"), text = el("div", "part-text");
        element.append(el("header", "", null, el("span", "who", person(call.member).name), el("span", "soft", `${call.title} …`)), text);
        live.set(call.path, { element, text }); streams.append(element);
      }
      say(live.get(call.path).text, call.parts.map((part) => part.text).join("\n"));
    }
  }

  return {
    element: box,
    draw(newScene, newAt, newStreaming) {
      if (scene && scene.run !== newScene.run) { made.clear(); keys = []; past.replaceChildren(); }
      scene = newScene; at = newAt; streaming = newStreaming;
      votes = new Map();
      scene.moments.forEach((moment, index) => { if (moment.kind === "vote" && moment.call) votes.set(moment.call, { vote: moment, index }); });
      fill(who, [["", t(t("Everybody"))], ...scene.seats.map((seat) => [seat.id, seat.name])]);
      fill(stage, [["", t(t("Every stage"))], ...scene.moments.filter((m) => m.kind === "stage").map((m) => [m.path, m.title])]);
      redraw();
    },
    forget() { made.clear(); keys = []; past.replaceChildren(); },
    newest() { stuck = true; },
  };
}

/** All that a call says; labels where there are several parts. What is short is left out where a vote beside it says the same. */
function partsOf(moment, facts = true) {
  const box = el("div", "parts"), parts = moment.parts || [];
  for (const part of parts) {
    if (parts.length > 1) box.append(el("div", "part-label", part.label));
    box.append(el("div", `part-text${moment.failed ? " failed" : ""}`, part.text));
  }
  if (facts || !parts.length) for (const fact of moment.facts || []) box.append(el("div", "fact", `${fact.label}: ${fact.value}`));
  return box;
}
