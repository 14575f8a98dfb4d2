// Keeps the language that was picked, for a visit without it in the address.
// Shows a page that was gone to from its top.
// Says that the page stands in another theme than it was drawn in, as when the system goes over to it, so that it is drawn anew.

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const TAKEN_MS = 200; // Streamlit goes over first

export default function ({ data: { theme, picked }, parentElement, setTriggerValue }) {
  if (picked) document.cookie = `courtroom_lang=${picked}; Path=/; Max-Age=31536000; SameSite=Lax`;
  if (window.courtroomPage !== location.pathname) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  window.courtroomPage = location.pathname;
  const own = (parentElement.courtroomThemes ??= {});
  own.look = () => {
    const now = getComputedStyle(parentElement).colorScheme;
    if (!["light", "dark"].includes(now)) return; // it is not on the page
    if (now !== theme && now !== own.said) setTriggerValue("changed", true);
    own.said = now; // once for each change
  };
  parentElement.dataset.theme = theme;
  setTimeout(own.look, TAKEN_MS);
  if (!own.follows) {
    own.follows = () => setTimeout(() => own.look(), TAKEN_MS);
    SYSTEM.addEventListener("change", own.follows);
  }
  return () => { if (!parentElement.isConnected) { SYSTEM.removeEventListener("change", own.follows); own.follows = null; } };
}
