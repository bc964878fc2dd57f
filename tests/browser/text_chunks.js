// The chunks of text of a document (docs/definitions.md), in the browser that shows it. Of pages
// whose scripts ran, ask for those of new DOMParser().parseFromString(outerHTML, "text/html").
function textChunks(root, tags = ["p", "div"]) {
  const inline = new Set(("a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s " +
    "samp small span strike strong sub sup time tt u var wbr").split(" "));
  const leftOut = new Set("script style template noscript iframe object svg math".split(" "));
  const chunks = [""];
  const add = (text) => { chunks[chunks.length - 1] += text; };
  const open = (element) => {
    if (!inline.has(element.localName)) add(" ");
    if (tags.includes(element.localName)) chunks.push("");
  };
  const close = (element) => { if (!inline.has(element.localName)) add(" "); };
  let node = root;
  while (node) {
    if (node.nodeType === Node.TEXT_NODE) add(node.data);
    if (node.nodeType === Node.ELEMENT_NODE) open(node);
    const enters = node.nodeType === Node.ELEMENT_NODE && !leftOut.has(node.localName);
    if (enters && node.firstChild) { node = node.firstChild; continue; }
    while (node && node !== root && !node.nextSibling) {
      if (node.nodeType === Node.ELEMENT_NODE) close(node);
      node = node.parentNode;
    }
    if (!node || node === root) break;
    if (node.nodeType === Node.ELEMENT_NODE) close(node);
    node = node.nextSibling;
  }
  return chunks.map((text) => text.replace(/[\t-\r ]+/g, " ").replace(/^ | $/g, "")).filter(Boolean);
}
