// The id is made and kept in the browser: a page that is loaded again is the same phone, and no cookie is needed.
export default function ({ setStateValue }) {
  let id = null;
  try { id = localStorage.getItem("courtroom-phone"); } catch (error) { /* a browser that keeps nothing */ }
  if (!id) {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    id = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
    try { localStorage.setItem("courtroom-phone", id); } catch (error) { /* it holds for this visit */ }
  }
  setStateValue("id", id);
}
