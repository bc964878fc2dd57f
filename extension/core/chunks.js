// The chunks of a page that count (docs/edge.md, rule 1), by their SHA-1.

import { GENERIC } from "./generic.js";
import { sha1 } from "./sha1.js";
import { counts } from "./tokens.js";

/** @type {Set<string> | undefined} */
let generic;

/**
 * Add those of some texts that count: they are long enough, and not what any site may have.
 * @param {Map<string, string>} chunks texts by SHA-1, in the order of the page
 * @param {readonly string[]} texts
 */
export function addChunks(chunks, texts) {
  generic ??= new Set(GENERIC.split(" "));
  for (const text of texts) {
    if (!counts(text)) continue;
    const hash = sha1(text);
    if (!generic.has(hash) && !chunks.has(hash)) chunks.set(hash, text);
  }
}
