/**
 * Tells the other tabs of this browser that a conversation changed, and hears it from them; coming back to a tab counts as hearing
 * about everything, because another device may have changed something. Says that something changed, never what.
 */
const CHANNEL = "ba-agent";
const QUIET_MS = 3000;

let channel: BroadcastChannel | null = null;
const open = (): BroadcastChannel | null => (typeof BroadcastChannel === "undefined" ? null : (channel ??= new BroadcastChannel(CHANNEL)));

export function announce(conversation: string): void {
  open()?.postMessage(conversation);
}

/** `conversation` is null when nobody knows which one it was. */
export function onChangeElsewhere(listener: (conversation: string | null) => void): void {
  open()?.addEventListener("message", (event) => listener(typeof event.data === "string" ? event.data : null));
  let looked = Date.now();
  const back = () => {
    if (document.visibilityState !== "visible" || Date.now() - looked < QUIET_MS) return;
    looked = Date.now();
    listener(null);
  };
  addEventListener("focus", back);
  document.addEventListener("visibilitychange", back);
}
