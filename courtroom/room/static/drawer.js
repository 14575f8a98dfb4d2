// The drawer: one member with persona, votes, what it was shown of others, what changed, and its chain; or a recount.

function drawerPart(hooks, closed) {
  const box = el("aside", "drawer"); box.hidden = true; box.tabIndex = -1;
  let opened = "", drawn = "";

  function close() { box.hidden = true; const id = opened; opened = ""; drawn = ""; closed(id); }
  const head = (title, ...more) => el("div", "drawer-head", null, el("h3", "", title), ...more, button("act", "✕", t("Close"), close));

  function votesOf(scene, now, member) {
    const list = el("ol", "votes");
    for (const ballot of now.ballots) {
      const vote = ballot.votes.get(member.id);
      if (!vote) continue;
      const side = scene.sides.find((one) => one.name === vote.choice);
      const item = el("li", "", null, shape(side || null, vote.choice ? "voted" : "abstained"), el("span", "", `${ballot.name}: ${vote.choice ? (side ? side.title : vote.choice) : t("abstained")}`));
      item.style.setProperty("--tone", side ? `var(--side-${scene.sides.indexOf(side)})` : "var(--soft)");
      if (vote.given === "set") item.append(el("span", "was", t("set")));
      if (changed(vote)) item.append(el("span", "was", `↻ ${t("changed")}`));
      list.append(item);
    }
    return list.children.length ? [el("h4", "", t("Votes")), list] : [];
  }

  function shown(scene, now, member) {
    const at = now.ballots.indexOf(now.ballot);
    const heard = scene.seats.filter((one) => (one.follows || []).includes(member.id)).map((one) => one.name).join(", ");
    const hearers = heard ? [el("p", "soft", t("Is heard by {names}.", { names: heard }))] : [];
    if (!(member.follows || []).length) return scene.seats.some((one) => (one.follows || []).length) && member.votes ? [el("p", "soft", t("Hears nobody.")), ...hearers] : [];
    const before = at > 0 ? now.ballots[at - 1] : null;
    const items = member.follows.map((id) => {
      const other = scene.seats.find((one) => one.id === id) || { name: id };
      const vote = before && before.votes.get(id), side = vote && scene.sides.find((one) => one.name === vote.choice);
      const item = el("li", "", null, shape(side || null, vote && vote.choice ? "voted" : "silent"), el("span", "", other.name));
      item.style.setProperty("--tone", side ? `var(--side-${scene.sides.indexOf(side)})` : "var(--soft)");
      return item;
    });
    return [el("h4", "", before ? t("Was shown the opinions in {ballot} of", { ballot: before.name }) : t("Follows")), el("ul", "votes", null, ...items), ...hearers];
  }

  return {
    element: box, close,
    open: (id) => { opened = id; drawn = ""; },
    opened: () => opened,
    draw(scene, now, at) {
      const member = scene.seats.find((one) => one.id === opened);
      if (!member) return;
      const calls = scene.moments.slice(0, at + 1).filter((one) => one.kind === "call" && one.member === opened);
      const signature = `${opened}|${calls.length}|${now.ballots.length}|${now.ballot ? now.ballot.votes.size : 0}`;
      if (signature === drawn) return;
      const first = !drawn;
      drawn = signature;
      const top = box.scrollTop;
      box.setAttribute("aria-label", member.name);
      const chain = calls.slice().reverse().map((call) => {
        const stage = scene.moments.find((one) => one.kind === "stage" && one.path === call.stage);
        const header = el("header", "", null, el("strong", "", call.title), el("span", "soft", stage ? stage.title : ""));
        const vote = [...now.ballots].flatMap((ballot) => [...ballot.votes.values()]).find((one) => one.call === call.path);
        if (vote) header.append(el("span", "chip", ((scene.sides.find((side) => side.name === vote.choice) || { title: t("abstained") }).title) + (changed(vote) ? " ↻" : "")));
        if (hooks.call) header.append(hooks.call(call.path, t("Open the call: {title}", { title: call.title })));
        return el("article", "line-said", null, header, partsOf(call));
      });
      box.replaceChildren(
        head(member.name),
        el("p", "soft", `${member.role} · ${member.model}`),
        ...(member.about ? [el("p", "", member.about)] : []),
        ...((member.traits || []).length ? [el("p", "soft", member.traits.join(", "))] : []),
        ...(hooks.member ? [button("act wide", t(t("Pictures, prompts and answers in full")), "", () => hooks.member(member.id))] : []),
        ...votesOf(scene, now, member), ...shown(scene, now, member),
        el("h4", "", chain.length ? t("Said, newest first") : t("Nothing said yet.")), ...chain,
      );
      box.hidden = false;
      if (first) { box.scrollTop = 0; box.focus({ preventScroll: true }); } else box.scrollTop = top;
    },
    recount(scene, now) {
      opened = "recount"; drawn = "recount"; box.hidden = false;
      box.setAttribute("aria-label", t("Recount"));
      const select = (label, options, value) => { const s = el("select", "pick"); fill(s, options); s.value = value; s.addEventListener("change", work); return [el("label", "field", label, s), s]; };
      const [ruleField, rule] = select(t("Vote rule"), [["most", t("Most votes")], ["half", t("More than half of the seats")], ["two-thirds", t("Two thirds of the seats")], ["five-sixths", t("Five sixths of the seats")], ["all", t("All seats agree")], ["last", t("The last member's vote")]], scene.rule);
      const [tieField, tie] = select(t("A tie goes to"), [["", t("nobody")], ...scene.sides.map((side) => [side.name, side.title])], scene.tie || "");
      const above = el("input"); above.type = "range"; above.min = "0"; above.max = "100"; above.step = "1"; above.value = String(Math.round((scene.above ?? 1) * 100));
      const aboveTold = el("output"); above.addEventListener("input", work);
      const aboveField = el("label", "field", t(t("Share of the seats that ends the discussion")), el("span", "inline", null, above, aboveTold));
      const ballot = select(t("Which vote"), now.ballots.map((one) => [one.path, one.name]), (now.ballot || {}).path || "");
      const voters = scene.seats.filter((seat) => seat.votes && now.ballots.some((one) => one.votes.has(seat.id)));
      const boxes = voters.map((seat) => { const input = el("input"); input.type = "checkbox"; input.checked = true; input.value = seat.id; input.addEventListener("change", work); return [input, el("label", "check", null, input, el("span", "", seat.name))]; });
      const result = el("div", "recounted"); result.setAttribute("role", "status");
      function work() {
        const without = new Set(boxes.filter(([input]) => !input.checked).map(([input]) => input.value));
        say(aboveTold, t("more than {share} %", { share: above.value }));
        const ballots = scene.carries ? now.ballots : now.ballots.filter((one) => one.path === ballot[1].value);
        const found = recount(scene, ballots, { rule: rule.value, tie: tie.value, above: scene.carries ? Number(above.value) / 100 : null, without });
        const side = scene.sides.find((one) => one.name === found.outcome);
        const rows = found.counts ? [...found.counts].filter(([, n]) => n || scene.sides.length < 3).map(([name, n]) => `${(scene.sides.find((one) => one.name === name) || { title: name }).title} ${n}`).join(", ") : "";
        result.replaceChildren(
          el("div", "recounted-outcome", found.outcome ? `${side ? `${side.mark} ${side.title}` : found.outcome}` : t(t("No decision"))),
          el("div", "", [found.ballot ? found.ballot.name : "", rows, found.abstained ? t("{number} abstained", { number: found.abstained }) : ""].filter(Boolean).join(" · ")),
          el("div", "soft", found.why), el("div", "recounted-mark", t(t("Recounted, not re-deliberated: nobody was asked anything anew."))),
        );
      }
      box.replaceChildren(head(t("Recount")), el("p", "soft", t("The votes on record, counted by other rules.")), result, ...(scene.carries ? [] : [ballot[0]]), ruleField, tieField, ...(scene.carries ? [aboveField] : []), el("h4", "", t(t("Who counts"))), el("div", "checks", null, ...boxes.map(([, label]) => label)));
      work(); box.scrollTop = 0; box.focus({ preventScroll: true });
    },
  };
}
