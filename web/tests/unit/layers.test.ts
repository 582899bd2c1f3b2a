/** routes → components → stores → services → api: each layer knows only those to its right. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";

const ORDER = ["routes", "components", "stores", "services", "api"];
const ROOT = join(import.meta.dirname, "../../src");
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|svelte)$/.test(name));

it("has no import against the order of the layers", () => {
  const wrong: string[] = [];
  for (const file of files) {
    const layer = ORDER.indexOf(file.split("/")[0] ?? "");
    if (layer < 0) continue;
    for (const [, path = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(/(?:from|import) ?\(?"(\$lib\/[^"]+|\.[^"]+)"/g)) {
      const target = path.startsWith("$lib/") ? path.slice(5) : relative(ROOT, join(ROOT, file, "..", path));
      const other = ORDER.indexOf(target.split("/")[0] ?? "");
      if (other >= 0 && other < layer) wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

it("shares nothing between the sandboxed document and the page but their protocol", () => {
  const shared = files
    .filter((file) => !file.startsWith("frame/"))
    .flatMap((file) => [...readFileSync(join(ROOT, file), "utf8").matchAll(/"\$lib\/frame\/([^"]+)"/g)].map((match) => match[1]));
  expect([...new Set(shared)]).toEqual(["protocol"]);
  for (const file of files.filter((name) => /^(?:frame|chart)\//.test(name))) expect(readFileSync(join(ROOT, file), "utf8")).not.toContain("$lib/");
});

it("lets how charts look, which both need, know neither", () => {
  for (const file of files.filter((name) => name.startsWith("chart/"))) {
    for (const [, path = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(/from "([^"]+)"/g)) expect(path).toMatch(/^\.\/[\w-]+$/);
  }
});

it("turns text into markup only where it was sanitised or escaped", () => {
  const raw = files.filter((file) => file.endsWith(".svelte") && readFileSync(join(ROOT, file), "utf8").includes("{@html"));
  expect(raw.sort()).toEqual(["components/report/CodeText.svelte", "components/report/DataTable.svelte", "components/report/RichText.svelte"]);
});

it("has one set of icons: an emoji is only in the text, as the mark of a part that SPEC U names", () => {
  const found = files.filter((file) => !file.startsWith("api/")).flatMap((file) => [...readFileSync(join(ROOT, file), "utf8").matchAll(/\p{Extended_Pictographic}/gu)].map((match) => `${match[0]} in ${file}`));
  expect(found.filter((one) => !/^[💡📋⏳📝🤔📦] in components|^☑ in services.markdown/u.test(one))).toEqual([]);
});
