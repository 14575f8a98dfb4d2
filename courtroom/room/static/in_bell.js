// The browser's own notice when a run or an experiment comes to stand or waits for a seat; asked for by a click.
const KEPT = "courtroom-bell";
const before = (window.courtroomBell ??= new Map()); // what was seen last, by what it is about

export default function ({ data, parentElement }) {
  if (!("Notification" in window)) return; // as on a page without HTTPS
  const button = parentElement.querySelector("button"), about = `${data.kind} ${data.id}`;
  const rings = () => Notification.permission === "granted" && localStorage.getItem(KEPT) === "on";
  const draw = () => {
    button.disabled = Notification.permission === "denied";
    button.textContent = button.disabled ? data.blocked : rings() ? data.on : data.off;
    button.title = data.help;
    button.setAttribute("aria-pressed", String(rings()));
    button.hidden = data.state === "done"; // nothing is to come
  };
  button.onclick = async () => {
    localStorage.setItem(KEPT, rings() ? "off" : "on");
    if (Notification.permission === "default") await Notification.requestPermission();
    draw();
  };
  const see = (state) => {
    const was = before.get(about);
    before.set(about, state);
    if (was === undefined || was === state || state === "running" || !rings() || document.hasFocus()) return;
    const notice = new Notification(data.name, { body: data.said[state] ?? state, tag: about });
    notice.onclick = () => { window.focus(); notice.close(); };
  };
  see(data.state);
  draw();
  // A run that waits for a seat goes on: its page is not drawn anew, and only the pulse says so.
  const hear = ({ detail }) => { if (data.kind === "run" && detail.run === data.id) see(detail.waits ? "waits for a seat" : detail.status); };
  window.addEventListener("courtroom-pulse", hear);
  return () => window.removeEventListener("courtroom-pulse", hear);
}
