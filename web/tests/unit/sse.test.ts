import { describe, expect, it } from "vitest";
import { SseParser } from "../../src/services/sse";

const WIRE = ': hello\r\nid: 7\r\nevent: round\r\ndata: {"a":1}\r\ndata: {"b":"中文"}\r\n\r\nevent: text.delta\ndata: {"text":"x"}\n\n';
const EXPECTED = [
  { id: "7", event: "round", data: '{"a":1}\n{"b":"中文"}' },
  { id: "", event: "text.delta", data: '{"text":"x"}' },
];

describe("SSE parser", () => {
  it("reads ids, names, several data lines, and ignores comments", () => {
    expect(new SseParser().push(WIRE)).toEqual(EXPECTED);
  });

  it("gives the same events wherever the stream is cut, between CR and LF too", () => {
    for (let cut = 1; cut < WIRE.length; cut += 1) {
      const parser = new SseParser();
      expect([...parser.push(WIRE.slice(0, cut)), ...parser.push(WIRE.slice(cut))], `cut at ${cut}`).toEqual(EXPECTED);
    }
    const parser = new SseParser();
    expect([...WIRE].flatMap((char) => parser.push(char))).toEqual(EXPECTED);
  });

  it("does not lend one event's id to the next", () => {
    expect(new SseParser().push(WIRE)[1]?.id).toBe("");
  });
});
