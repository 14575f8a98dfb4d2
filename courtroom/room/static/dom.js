// Elements. All text from outside goes through `text`, which is `textContent`: no markup in it takes effect.

/** The room's words in the reader's language, by their English; whoever puts the room into a place fills them in. */
const wording = {};

/** A text of the room, with its values in their places. */
function t(text, values = {}) {
  return (wording[text] || text).replace(/\{(\w+)\}/g, (place, name) => (name in values ? values[name] : place));
}

const SVG = "http://www.w3.org/2000/svg";

/** An element with a class, a text and children. */
function el(tag, className = "", text = null, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== null) made.textContent = text;
  made.append(...children);
  return made;
}

function button(className, text, label, act) {
  const made = el("button", className, text);
  made.type = "button";
  // A name that is read aloud has the words that are seen; where it could not, the words stay the name.
  const seen = (text || "").replace(/[^\p{L}\p{N} ]/gu, "").trim().toLowerCase();
  if (label) { made.title = label; if (label.toLowerCase().includes(seen)) made.setAttribute("aria-label", label); }
  made.addEventListener("click", act);
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A list to choose from; keeps what was chosen while its options change. */
function fill(select, options) {
  const signature = JSON.stringify(options);
  if (select.dataset.options === signature) return;
  select.dataset.options = signature;
  const chosen = select.value;
  select.replaceChildren(...options.map(([value, text]) => { const o = el("option", "", text); o.value = value; return o; }));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

/** Sets a text only where it differs, so that a selection in it stays. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const PATHS = {
  circle: "M24 3a21 21 0 1 1 0 42a21 21 0 1 1 0-42Z",
  square: "M9 5H39a4 4 0 0 1 4 4V39a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4V9a4 4 0 0 1 4-4Z",
  diamond: "M24 2L46 24L24 46L2 24Z",
  "triangle-up": "M24 3L46 43H2Z",
  star: "M24 2L30.5 17.5L47 18.5L34.5 29.5L38.5 46L24 37L9.5 46L13.5 29.5L1 18.5L17.5 17.5Z",
  cross: "M17 3H31V17H45V31H31V45H17V31H3V17H17Z",
};

/** The shape of a choice; without one, a ring of dashes (no vote yet) or a bar (abstained). */
function shape(side, state) {
  const drawn = svg("svg", { viewBox: "0 0 48 48", class: `shape ${state}`, "aria-hidden": "true" });
  drawn.append(svg("path", { d: PATHS[side ? side.symbol : "circle"] || PATHS.circle }));
  if (state === "abstained") drawn.append(svg("path", { d: "M13 24H35", class: "bar" }));
  return drawn;
}
