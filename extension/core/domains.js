// Whose a page is: its registered domain, by the whole public suffix list.

import { RULES } from "./suffixes.js";

/** @type {Set<string> | undefined} */
let rules;

/**
 * The registered domain of a host as browsers write it (lower case, ASCII). An IP address, a host
 * without a dot and a public suffix are their own.
 * @param {string} host
 * @returns {string}
 */
export function domainOf(host) {
  const name = host.replace(/\.$/, "");
  if (!name.includes(".") || isAddress(name)) return name;
  const labels = name.split(".");
  const first = labels.length - suffixLength(labels) - 1;
  return first < 0 ? name : labels.slice(first).join(".");
}

/**
 * The canonical URL of a page: without user, fragment, and the dot at the end of its host.
 * @param {string} address
 * @returns {string} "" for what is no page of the web
 */
export function canonicalUrl(address) {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return "";
  const url = new URL(address);
  const port = url.port && `:${url.port}`;
  const query = url.search || (/^[^#]*\?/.test(url.href) ? "?" : "");
  return `${url.protocol}//${url.hostname.replace(/\.$/, "")}${port}${url.pathname}${query}`;
}

/**
 * The registered domain of a page.
 * @param {string} address
 * @returns {string} "" for what is no page of the web
 */
export function domainOfPage(address) {
  const url = canonicalUrl(address);
  return url && domainOf(new URL(url).hostname);
}

/** @param {string} host */
function isAddress(host) {
  return host.startsWith("[") || /^(\d{1,3}\.){3}\d{1,3}$/.test(host) &&
    host.split(".").every((part) => Number(part) < 256 && String(Number(part)) === part);
}

/**
 * How many of the labels are a public suffix: those of the longest rule, where an exception goes
 * before a wildcard, and a wildcard's root is a suffix itself.
 * @param {string[]} labels
 */
function suffixLength(labels) {
  rules ??= new Set(RULES.split("\n"));
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join(".");
    const depth = labels.length - at;
    if (rules.has("!" + name)) return depth - 1;
    if (rules.has("*." + name)) return at ? depth + 1 : depth;
    if (rules.has(name)) return depth;
  }
  return 1;
}
