// The room as a whole: tally, bench, transcript, timeline and drawer over one scene, at one moment.

/**
 * Puts a room into an element.
 * @param hooks what links lead to: `call(path, label)` gives a link to a call, `member(id)` opens all of a member.
 */
function mountRoom(host, hooks = {}) {
  const root = el("div", "room"); root.setAttribute("role", "region"); root.setAttribute("aria-label", t("The room"));
  let scene = null, at = -1, following = true, live = [], opener = "", last = "";

  const drawer = drawerPart(hooks, (id) => { root.classList.remove("open"); if (id) bench.focus(opener || id); });
  const openMember = (id) => { opener = id; root.classList.add("open"); drawer.open(id); draw(); };
  const bench = benchPart(openMember);
  const tally = tallyPart();
  const transcript = transcriptPart({ ...hooks, open: openMember });
  const timeline = timelinePart(go, present, () => { timeline.stop(); root.classList.add("open"); drawer.recount(scene, standing(scene, at)); });
  const left = el("div", "col-bench", null, tally.element, bench.element);
  const right = el("div", "col-said", null, transcript.element, drawer.element);
  const notice = el("div", "soft notice");
  root.append(el("div", "main", null, left, right), timeline.element, notice);
  host.append(root);

  function go(to) {
    const last = scene.moments.length - 1;
    at = Math.max(Math.min(0, last), Math.min(last, to));
    following = at >= last && scene.status === "running" ? true : to === Infinity;
    transcript.newest();
    draw();
  }

  function filling(on) {
    root.classList.toggle("present", on);
    timeline.filling(on);
    if (!on && document.fullscreenElement) document.exitFullscreen();
  }

  function present() {
    const on = !root.classList.contains("present");
    filling(on);
    if (on && root.requestFullscreen) root.requestFullscreen().catch(() => {});  // where it is not allowed, the room fills the window
  }
  document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) filling(false); });

  root.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("select, input[type=checkbox]");
    if (event.key === "Escape") { if (!drawer.element.hidden) drawer.close(); else filling(false); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const ranged = event.target instanceof Element && event.target.matches("input[type=range]:not(.range)");
    if (steps && !ranged) { event.preventDefault(); event.stopPropagation(); timeline.stop(); go(at + steps); }
    else if (event.key === " " && !(event.target instanceof HTMLButtonElement)) { event.preventDefault(); if (timeline.playing()) timeline.stop(); else timeline.start(); }
  });

  function themed() {
    const colour = getComputedStyle(root).backgroundColor.match(/[\d.]+/g) || [255, 255, 255];
    const dark = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] < 128;
    root.dataset.theme = dark ? "dark" : "light";
    scene.sides.forEach((side, n) => root.style.setProperty(`--side-${n}`, dark ? side.dark : side.light));
  }

  function draw() {
    if (!scene) return;
    const atEnd = at >= scene.moments.length - 1, now = standing(scene, at), open = atEnd && scene.status !== "done" ? live : [];
    root.dataset.seating = scene.seating;
    say(notice, scene.notice);
    tally.draw(scene, now); bench.draw(scene, now, open); transcript.draw(scene, at, open); timeline.draw(scene, at);
    if (drawer.opened() && drawer.opened() !== "recount") drawer.draw(scene, now, at);
  }

  function normal(made) {
    return { above: null, tie: null, reason: "", real: {}, real_title: "", verdict: null, ending: t("Verdict"), ballots: {}, stages_to_come: [], ended: [], carries: false, rule: "most", notice: "", sides: [], seats: [], moments: [], ...made };
  }

  return {
    root,
    /** The scene as it stands now; who looks at the end stays at the end, who looks back, or has it played, stays where they are. */
    update(made, start = null, play = false) {
      const fresh = !scene || scene.run !== made.run;
      if (fresh) { transcript.forget(); following = true; timeline.stop(); }
      // What was undone or worked out anew is not there any more: lines that were drawn for it go too.
      const undone = scene && !fresh && scene.moments.some((one, n) => JSON.stringify(one) !== JSON.stringify(made.moments[n]));
      if (undone) transcript.forget();
      scene = normal(made);
      // As `pulse` would say it, where nothing has come since.
      last = live.length ? "" : JSON.stringify([scene.moments.length, [], [], scene.status, scene.reason, scene.verdict, scene.ballots, scene.stages_to_come, scene.ended]);
      if (fresh && start !== null) { at = start; following = false; }
      else if (following && !timeline.playing()) at = scene.moments.length - 1;
      else at = Math.min(at, scene.moments.length - 1);
      themed(); draw();
      if (fresh && play) { go(0); following = false; timeline.show(); }
    },
    /** What came since: moments that follow those of the last update, and who speaks now. */
    pulse({ from, moments, live: open, status, reason, verdict, ballots, stages_to_come, ended }) {
      if (!scene) return;
      const told = JSON.stringify([from, moments, open || [], status, reason || "", verdict, ballots, stages_to_come, ended]);
      if (told === last) return;
      last = told;
      scene = { ...scene, status, reason: reason || "", verdict: verdict || scene.verdict, ballots, stages_to_come, ended, moments: [...scene.moments.slice(0, from), ...moments] };
      live = open || [];
      if (following && !timeline.playing()) at = scene.moments.length - 1;
      themed(); draw();
    },
    go, themed: () => { if (scene) themed(); },
  };
}
