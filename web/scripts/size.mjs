/** Prints what a first visit downloads, and fails past the budget (120 KB compressed, before ECharts). */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BUDGET = 120 * 1024;
const dist = new URL("../dist/", import.meta.url);
const html = readFileSync(new URL("index.html", dist), "utf8");
const firstLoad = ["index.html", ...[...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1]).filter((name) => existsSync(new URL(name, dist)))];
function gzip(name) {
  return gzipSync(readFileSync(new URL(name, dist))).length;
}
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;

// The words of one language come with every first visit: the larger ones count.
const words = readdirSync(new URL("assets/", dist)).filter((name) => /^(?:zh|en)-[^.]*\.js$/.test(name)).map((name) => `assets/${name}`);
firstLoad.push(...words.sort((a, b) => gzip(b) - gzip(a)).slice(0, 1));

let total = 0;
for (const name of firstLoad) {
  total += gzip(name);
  console.log(`first load  ${kb(gzip(name)).padStart(9)}  ${name}`);
}
for (const name of readdirSync(new URL("assets/", dist))) {
  const path = `assets/${name}`;
  if (!firstLoad.includes(path) && !/\.(woff2|gz|br)$/.test(name)) console.log(`on demand   ${kb(gzip(path)).padStart(9)}  ${path}`);
}
console.log(`first load  ${kb(total)} of ${kb(BUDGET)} (gzip)`);
if (total > BUDGET) process.exit(1);
