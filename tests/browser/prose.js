// Elements of which a part is seen nowhere, by their first words.
const cut = (words) => words.filter((one) => {
  const how = getComputedStyle(one);
  if (!one.getClientRects().length || /hidden|clip/.test(how.overflowY) && one.scrollHeight > one.clientHeight + 1) return true;
  if (/hidden|clip/.test(how.overflowX) && one.scrollWidth > one.clientWidth + 1) return true;
  let box = one.getBoundingClientRect();
  for (let around = one.parentElement; around; around = around.parentElement) {
    const frame = around.getBoundingClientRect(), flow = getComputedStyle(around);
    if (/auto|scroll/.test(flow.overflowY)) box = frame;  // the rest is scrolled to
    else if (/hidden|clip/.test(flow.overflowY) && (box.bottom > frame.bottom + 1 || box.top < frame.top - 1)) return true;
    if (/hidden|clip/.test(flow.overflowX) && (box.right > frame.right + 1 || box.left < frame.left - 1)) return true;
  }
  return false;
}).map((one) => one.textContent.slice(0, 80));

// Plays a hearing, moment by moment, and says what can't be read.
const played = async ([scene, present]) => {
  document.getElementById("room").replaceChildren();
  const room = mountRoom(document.getElementById("room")), missing = [];
  room.update(scene);
  room.root.classList.toggle("present", present);
  const laidOut = async () => { for (let n = 0; n < 2; n += 1) await new Promise(requestAnimationFrame); };
  await laidOut();
  for (const [number, moment] of scene.moments.entries()) {
    const said = (moment.parts || []).map((part) => part.text);
    if (moment.kind !== "call" || !said.length) continue;
    room.go(number);
    await laidOut();
    const line = document.querySelector(".line-said.now"), speech = document.querySelector(".speech");
    const read = line ? [...line.querySelectorAll(".part-text")] : [];
    if (read.map((one) => one.textContent).join() !== said.join()) missing.push(`not in the transcript: ${moment.path}`);
    if (speech.textContent.indexOf(said.join("\n")) < 0) missing.push(`not in the room: ${moment.path}`);
    missing.push(...cut([...read, speech.querySelector(".speech-text")]));
    if (!read.length || read[0].getBoundingClientRect().bottom < document.querySelector(".list").getBoundingClientRect().top)
      missing.push(`not in view: ${moment.path}`);
  }
  return missing;
};
