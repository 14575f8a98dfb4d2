// The members who vote as cards below the room, as a Streamlit component: one element, however large the jury is.

export default function ({ parentElement, data, setTriggerValue }) {
  const { cards, open } = JSON.parse(new TextDecoder().decode(data));
  const shown = cards.map((card) => {
    const choice = el("span", "choice", card.choice);
    choice.style.color = card.tone;
    const vote = el("div", "", null, choice, ...card.notes.map((note) => el("span", "note", note)));
    const reason = el("div", "reason", card.reason);
    const chain = button("chain", open, `${open}: ${card.name}`, () => setTriggerValue("member", card.id));
    return el("article", "card", null, el("div", "name", card.name), el("div", "line", card.line), vote, reason, chain);
  });
  const grid = parentElement.querySelector(".members") || parentElement.appendChild(el("div", "members"));
  grid.replaceChildren(...shown);
}
