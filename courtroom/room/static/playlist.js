// A playlist that is played: which moment this is, the sentence on it, and the ways on.

function playlistPart(turn) {
  const box = el("div", "playlist"); box.hidden = true;
  const back = button("act", "◀", t("The moment before (Page Up)"), () => part.turn("previous"));
  const next = button("act go", "▶", t("The next moment (Page Down)"), () => part.turn("next"));
  const leave = button("act", "✕", t("Leave the playlist (Escape)"), () => turn("leave"));
  const told = el("span", "soft"), note = el("span", "playlist-note");
  note.setAttribute("aria-live", "polite");
  box.append(back, next, told, note, el("span", "grow"), leave);
  let stop = null;
  const part = {
    element: box,
    stop: () => stop,
    turn(where) {
      const to = stop.place + (where === "next" ? 1 : -1);
      if (to >= 0 && to < stop.count) turn(where);
    },
    /** One stop: `{place, count, name, note, at}`; nothing where no playlist is played. */
    draw(given) {
      stop = given || null;
      box.hidden = !stop;
      if (!stop) return;
      say(told, `${stop.place + 1} / ${stop.count} · ${stop.name}`);
      say(note, stop.note || stop.title || "");
      back.disabled = stop.place === 0;
      next.disabled = stop.place === stop.count - 1;
    },
  };
  return part;
}
