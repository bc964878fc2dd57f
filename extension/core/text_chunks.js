// The chunks of text of a document (docs/definitions.md), in the browser that shows it.

const INLINE = new Set(("a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s " +
  "samp small span strike strong sub sup time tt u var wbr").split(" "));
const LEFT_OUT = new Set("script style template noscript iframe object svg math".split(" "));
const ELEMENT = 1;
const TEXT = 3;
const SHADOW = 11;
/** Nodes, or pieces of long texts, between two places to pause. */
const STRIDE = 256;
/** Characters of a text that are taken in one go. */
const PIECE = 1 << 16;
const WHITE = /[\t-\r ]+/g;

/**
 * @typedef {object} Walk
 * @property {readonly string[]} [tags] where chunks begin
 * @property {(element: Element) => ShadowRoot | null} [shadowOf] a shadow tree to read before the
 *   element's own children; without it shadow trees are left out, as where pages are parsed
 * @property {number} [longest] characters of a chunk beyond which it is left out
 */

/**
 * All chunks of a tree, as they are hashed. Ask for those of
 * `new DOMParser().parseFromString(outerHTML, "text/html")` to have what a parser with scripts off
 * gives.
 * @param {Node} root
 * @param {readonly string[]} [tags]
 * @returns {string[]}
 */
export function textChunks(root, tags) {
  const chunks = [];
  for (const chunk of walkChunks(root, { tags })) if (chunk !== undefined) chunks.push(chunk);
  return chunks;
}

/**
 * The chunks of a tree one after the other, and `undefined` wherever the walk may pause: every few
 * hundred nodes, and in long texts. The tree may change while it pauses: where the node to go on
 * from has left the document the walk ends, and returns false; true at its whole end. Cost: each
 * node once, each character once.
 * @param {Node} root
 * @param {Walk} [walk]
 * @returns {Generator<string | undefined, boolean, void>}
 */
export function* walkChunks(root, { tags = ["p", "div"], shadowOf, longest = Infinity } = {}) {
  const cuts = new Set(tags);
  const chunk = new Chunk(longest);
  const connected = root.isConnected;
  let steps = 0;
  /** @type {Node | null} */
  let node = root;
  let entering = true;
  while (node) {
    if (++steps % STRIDE === 0) {
      yield undefined;
      if (connected && !node.isConnected) return false;
    }
    if (entering && node.nodeType === TEXT) {
      const { data } = /** @type {Text} */ (node);
      for (let at = 0; at < data.length; at += PIECE) {
        if (at) yield undefined;
        chunk.add(data.length > PIECE ? data.slice(at, at + PIECE) : data);
      }
    }
    if (node.nodeType === ELEMENT) {
      const element = /** @type {Element} */ (node);
      const name = element.localName;
      if (!INLINE.has(name)) chunk.add(" ");
      if (entering && cuts.has(name)) {
        const text = chunk.take();
        if (text) yield text;
      }
      if (entering && !LEFT_OUT.has(name)) {
        const inside = shadowOf?.(element)?.firstChild ?? element.firstChild;
        if (inside) {
          node = inside;
          continue;
        }
      }
      if (entering && !INLINE.has(name)) chunk.add(" ");
    }
    if (node === root) break;
    [node, entering] = after(node);
  }
  const text = chunk.take();
  if (text) yield text;
  return true;
}

/**
 * What follows a node whose content is done: its sibling, to enter; or its parent, to leave. After
 * the last node of a shadow tree come the children of its host.
 * @param {Node} node
 * @returns {[Node | null, boolean]}
 */
function after(node) {
  if (node.nextSibling) return [node.nextSibling, true];
  const parent = node.parentNode;
  if (parent?.nodeType !== SHADOW || !("host" in parent)) return [parent, false];
  const host = /** @type {ShadowRoot} */ (parent).host;
  return host.firstChild ? [host.firstChild, true] : [host, false];
}

/** A chunk that grows: white space is collapsed as it comes. */
class Chunk {
  /** @param {number} longest */
  constructor(longest) {
    this.longest = longest;
    this.text = "";
    this.blank = false;
    this.length = 0;
  }

  /** @param {string} text */
  add(text) {
    if (text === " ") {
      this.blank = true;
      return;
    }
    if (this.length > this.longest || !text) return;
    const plain = text.replace(WHITE, " ");
    const from = plain.startsWith(" ") ? 1 : 0;
    const to = plain.length > 1 && plain.endsWith(" ") ? plain.length - 1 : plain.length;
    if (from) this.blank = true;
    if (to <= from) return;
    if (this.blank && this.text) this.text += " ";
    this.text += from || to < plain.length ? plain.slice(from, to) : plain;
    this.length = this.text.length;
    this.blank = to < plain.length;
  }

  /** @returns {string} the chunk, "" for none or one that is too long; the next one begins */
  take() {
    const text = this.length > this.longest ? "" : this.text;
    this.text = "";
    this.blank = false;
    this.length = 0;
    return text;
  }
}
