// The room in the report: the scene stands in the page, and links lead to the calls below.

{
  Object.assign(wording, JSON.parse(document.getElementById("texts").textContent));
  const host = document.getElementById("room");
  const place = (path) => document.getElementById(`call-${path}`);
  const room = mountRoom(host, {
    call: (path, label) => {
      const link = el("a", "to-call", t("Call"));
      link.href = `#call-${encodeURIComponent(path)}`; link.setAttribute("aria-label", label);
      link.addEventListener("click", (event) => { const found = place(path); if (found) { event.preventDefault(); found.open = true; found.scrollIntoView(); } });
      return link;
    },
  });
  room.update(JSON.parse(document.getElementById("scene").textContent));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", room.themed);
}
