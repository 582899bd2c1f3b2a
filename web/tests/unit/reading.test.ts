/** Reading a file again and describing it, against a scripted `fetch`. */
import { afterEach, expect, it, vi } from "vitest";
import type { UploadedFile } from "../../src/api/types";
import { Uploads } from "../../src/stores/uploads.svelte";

const FILE: UploadedFile = {
  file_id: "upload_001", filename: "a.csv", file_type: "csv", size: 1, created_at: "", status: "ready", description: "", profile: { encoding: "utf-8", tables: [] },
};
const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
function make(respond: (url: string, init: RequestInit) => Response) {
  const sent: { url: string; method?: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    sent.push({ url, method: init.method, body: JSON.parse(String(init.body ?? "null")) });
    return respond(url, init);
  });
  const chat = { id: "conv_1" as string | null, files: [FILE, { ...FILE, file_id: "upload_002" }], adopt: () => {} };
  return { chat, uploads: new Uploads(chat), sent };
}
afterEach(() => vi.unstubAllGlobals());

it("shows the file as being read at once, then as the server read it", async () => {
  const read = { ...FILE, profile: { encoding: "big5", tables: [] }, ingest_options: { encoding: "big5" } };
  const { chat, uploads, sent } = make(() => answer(200, { success: true, data: read }));
  const done = uploads.readAgain(FILE, { encoding: "big5" });
  expect(chat.files.map((file) => file.status)).toEqual(["processing", "ready"]);
  await done;
  expect(sent[0]).toEqual({ url: "/api/v1/files/upload_001/ingest?conversation_id=conv_1", method: "POST", body: { encoding: "big5" } });
  expect(chat.files[0]?.profile?.encoding).toBe("big5");
  expect(chat.files[1]?.file_id).toBe("upload_002");
});

it("leaves the file as it was when the choice is refused", async () => {
  const { chat, uploads } = make(() => answer(400, { success: false, error: { code: "unknown_sheet", message: "no sheet" } }));
  await uploads.readAgain(FILE, { sheet: "x" });
  expect(chat.files[0]).toEqual(FILE);
});

it("does not write into a conversation that was left meanwhile", async () => {
  const { chat, uploads } = make(() => ((chat.id = "conv_2"), (chat.files = []), answer(200, { success: true, data: FILE })));
  await uploads.readAgain(FILE, {});
  expect(chat.files).toEqual([]);
});

it("describes a file and keeps what else is known of it", async () => {
  const { chat, uploads, sent } = make(() => answer(200, { success: true, data: { ...FILE, profile: undefined, description: "销售" } }));
  await uploads.describe(FILE, "销售");
  expect(sent[0]).toMatchObject({ method: "PATCH", body: { description: "销售" } });
  expect(chat.files[0]).toEqual({ ...FILE, description: "销售" });
});
