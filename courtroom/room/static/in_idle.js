// Says once that the browser has drawn what it was given and has time for more.

export default function ({ parentElement, setTriggerValue }) {
  if (parentElement.courtroomIdle) return;
  parentElement.courtroomIdle = true;
  requestIdleCallback(() => setTriggerValue("idle", true), { timeout: 2000 });
}
