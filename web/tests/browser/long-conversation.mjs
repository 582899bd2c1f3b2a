/** A conversation of many turns, made by exporting one turn and importing it many times over. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const json = (method, body) => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
const TEXT = (index) => `## 第 ${index} 个回答\n\n${"一段说明文字。".repeat(20)}\n\n| 地区 | 额 |\n|---|--:|\n${Array.from({ length: 8 }, (_, row) => `| 区${row} | ${row * 1000} |`).join("\n")}`;

/** Each line once per turn, with a run of its own and its number in the text. */
const repeat = (lines, run, turns) => turns.flatMap((index) => lines.map((line) => line.replaceAll(run, runId(index)).replaceAll("第 0 个", `第 ${index} 个`)));
const runId = (index) => `run_${index.toString(16).padStart(16, "0")}`;

export async function longConversation(url, count) {
  const api = async (path, init) => {
    const response = await fetch(`${url}/api/v1${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const { data } = await (await api("/agent/query", json("POST", { message: `[text]${TEXT(0)}` }))).json();
  const folder = mkdtempSync(join(tmpdir(), "ba-agent-long-"));
  try {
    const tar = join(folder, "one.tar");
    writeFileSync(tar, Buffer.from(await (await api(`/conversations/${data.conversation_id}/export`)).arrayBuffer()));
    execFileSync("tar", ["-xf", tar, "-C", folder]);
    const turns = Array.from({ length: count }, (_, index) => index);
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    const run = manifest.runs[0].id;
    manifest.runs = turns.map((index) => ({ ...manifest.runs[0], id: runId(index) }));
    writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
    for (const name of ["rounds.jsonl", "events.jsonl"]) {
      const lines = readFileSync(join(folder, name), "utf8").trim().split("\n");
      writeFileSync(join(folder, name), `${repeat(lines, run, turns).join("\n")}\n`);
    }
    execFileSync("tar", ["--format=ustar", "-cf", tar, "-C", folder, "manifest.json", "rounds.jsonl", "events.jsonl"]);
    const imported = await (await api("/conversations/import", { method: "POST", headers: { "Content-Type": "application/x-tar" }, body: readFileSync(tar) })).json();
    return imported.data.conversation_id;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
