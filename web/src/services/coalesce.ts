/** Joins text deltas that arrive close together, so that a fast model does not make the page draw a hundred times a second. */
import type { RunEvent } from "./run-stream";

const WINDOW_MS = 60;

export class DeltaJoiner {
  #held: RunEvent | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #deliver: (event: RunEvent) => void;

  constructor(deliver: (event: RunEvent) => void) {
    this.#deliver = deliver;
  }

  /** Order is kept: whatever is not a delta of the same round lets go of what is held first. */
  push(event: RunEvent): void {
    if (event.type !== "text.delta") {
      this.flush();
      this.#deliver(event);
      return;
    }
    if (this.#held && this.#held.data.round !== event.data.round) this.flush();
    const before = this.#held ? String(this.#held.data.text ?? "") : "";
    this.#held = { ...event, data: { ...event.data, text: before + String(event.data.text ?? "") } };
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS);
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const held = this.#held;
    this.#held = null;
    if (held) this.#deliver(held);
  }
}
