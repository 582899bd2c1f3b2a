/** A notification of the system, where the reader has allowed them. */
export function notify(title: string, body: string): void {
  if (globalThis.Notification?.permission !== "granted") return;
  try {
    new Notification(title, { body });
  } catch {
    // Some phones only let service workers notify: the title of the tab says it as well.
  }
}

export const canAskToNotify = (): boolean => globalThis.Notification?.permission === "default";
