// The votes of each ballot as a bar, and how they moved, as a Streamlit component.

export default function ({ parentElement, data }) {
  const { ballots, sides, moved, words } = JSON.parse(new TextDecoder().decode(data));
  Object.assign(wording, words);
  const named = new Map(sides.map((side) => [side.name, side]));
  const tone = (name) => named.get(name).tone;

  const bars = ballots.map((ballot) => {
    const line = el("div", "line"), told = [];
    for (const side of sides) {
      const number = Object.values(ballot.votes).filter((choice) => choice === side.name).length;
      if (!number) continue;
      const text = `${side.mark} ${side.title} ${number}`, part = el("span", "part", text);
      part.style.flexGrow = String(number); part.style.background = side.tone; part.title = text;
      told.push(text); line.append(part);
    }
    line.setAttribute("role", "img"); line.setAttribute("aria-label", `${ballot.name}: ${told.join(", ")}`);
    return el("div", "ballot", null, el("span", "name", ballot.name), line);
  });
  const columns = ballots.map(({ name, votes }) => ({ name, votes: new Map(Object.entries(votes).map(([member, choice]) => [member, { choice }])) }));
  const flow = moved ? [el("p", "moved", moved), flowOf(columns, sides.filter((side) => side.name !== null), tone, { width: 1000, height: 240, thick: 22, letter: window.innerWidth > 640 ? 7.5 : 15 })] : [];
  const box = parentElement.querySelector(".votes") || parentElement.appendChild(el("div", "votes"));
  box.replaceChildren(...bars, ...flow);
}
