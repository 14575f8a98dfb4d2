// The room on the live page, as a Streamlit component. What comes in between two drawings of the page comes as an event.

/** Two lines: what is given, and the scene. */
function read(bytes) {
  const [given, scene] = new TextDecoder().decode(bytes).split("\n");
  return { ...JSON.parse(given), scene: JSON.parse(scene) };
}

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const given = read(data);
  let kept = parentElement.courtroom;
  if (kept && kept.language !== given.language) {  // words are put in when the room is made
    kept.unlisten(); kept.host.remove(); kept = null;
  }
  if (!kept) {
    for (const text of Object.keys(wording)) delete wording[text];
    Object.assign(wording, given.words);
    const host = el("div");
    const hooks = {
      call: (path, label) => button("to-call", t("Call"), label, () => parentElement.courtroom.send("call", path)),
      member: (id) => parentElement.courtroom.send("member", id),
    };
    kept = { host, room: mountRoom(host, hooks), send: null, language: given.language };
    parentElement.courtroom = kept;
    const listen = (event) => { if (host.isConnected && event.detail.version === kept.version) kept.room.pulse(event.detail); };
    window.addEventListener("courtroom-pulse", listen);
    kept.unlisten = () => window.removeEventListener("courtroom-pulse", listen);
  }
  kept.send = (name, value) => {
    setTriggerValue(name, value);
    const below = document.querySelector(".st-key-below");
    if (below) below.scrollIntoView({ block: "start" });
  };
  kept.run = given.scene.run;
  if (kept.host.parentNode !== parentElement) parentElement.append(kept.host);
  if (kept.version !== given.version) {
    kept.version = given.version;
    kept.room.update(given.scene, given.start ?? null, given.play);
    if (window.courtroomPulse && window.courtroomPulse.run === given.scene.run && window.courtroomPulse.version === given.version) kept.room.pulse(window.courtroomPulse);
  } else kept.room.themed();
  return () => { if (!kept.host.isConnected) { kept.unlisten(); delete parentElement.courtroom; } };
}
