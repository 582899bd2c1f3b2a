/** Server-sent events from a byte stream: a pure, chunk-proof parser. Does not connect and does not retry. */

export interface SseEvent {
  id: string;
  event: string;
  data: string;
}

export class SseParser {
  #rest = "";
  #id = "";
  #event = "";
  #data: string[] = [];

  /** Feeds decoded text; returns the events it completed. A trailing `\r` waits, since its `\n` may follow. */
  push(text: string): SseEvent[] {
    this.#rest += text;
    const events: SseEvent[] = [];
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      if (end < 0) break;
      if (this.#rest[end] === "\r" && end + 1 === this.#rest.length) break;
      const line = this.#rest.slice(0, end);
      const width = this.#rest.startsWith("\r\n", end) ? 2 : 1;
      this.#rest = this.#rest.slice(end + width);
      const event = this.#line(line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line: string): SseEvent | null {
    if (line === "") {
      const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
      const complete = this.#data.length > 0;
      // Unlike a browser's EventSource: an event without its own id (a passing delta) has none.
      this.#id = "";
      this.#event = "";
      this.#data = [];
      return complete ? event : null;
    }
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }
}
