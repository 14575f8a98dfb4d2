// What came since the page was drawn: handed on to the room, wherever it is on the page.

export default function ({ data }) {
  const pulse = JSON.parse(new TextDecoder().decode(data));
  window.courtroomPulse = pulse;
  window.dispatchEvent(new CustomEvent("courtroom-pulse", { detail: pulse }));
}
