// node browser_extension.mjs FOLDER: pages as JSON lines in (act, url, texts), answers as JSON lines out, by
// the modules of a built extension.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const load = (path) => import(pathToFileURL(`${process.argv[2]}/core/${path}.js`).href);
const { FirstUse } = await load("first_use");
const { MemoryShelf } = await load("shelf");
const { domainOfPage } = await load("domains");
const { addChunks } = await load("chunks");
const trust = new FirstUse(new MemoryShelf());
for await (const line of createInterface({ input: process.stdin })) {
  const { act, url, texts } = JSON.parse(line);
  const start = performance.now();
  const chunks = new Map();
  addChunks(chunks, texts);
  const hashed = performance.now();
  const { flagged, domain, passages } = await trust[act](
    { url, domain: domainOfPage(url), chunks, password: false, day: 20_000 });
  process.stdout.write(JSON.stringify({
    act, url, flagged, domain, chunks: chunks.size, passages: passages.slice(0, 3).map(
      ({ text }) => text.slice(0, 80)), hashing: hashed - start,
    looking: performance.now() - hashed }) + "\n");
}
