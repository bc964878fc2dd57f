// In place of a page that did not leave the bar alone.

import { STYLE, element, noticeElements } from "../core/notice.js";

/** @type {import("../core/messages.js").Notice} */
const notice = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
document.adoptedStyleSheets = [sheet];
const box = element("div", { class: "notice" });
box.append(noticeElements(notice, true));
document.getElementById("warning")?.append(box);

for (const button of box.querySelectorAll("button")) {
  button.onclick = async () => {
    const choice = button.dataset.choice;
    await chrome.runtime.sendMessage({ kind: "decide", choice, notice });
    if (choice !== "leave") location.replace(notice.url);
  };
}
