// node ask.mjs FOLDER NAME: values as a JSON list in, what the function NAME gives for each out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, name] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${folder}/core/${path}.js`).href);

const functions = {
  async sha1(text) { return (await load("sha1")).sha1(text); },
  async tokens(text) {
    const { countTokens, counts, utf8Length } = await load("tokens");
    return [countTokens(text), utf8Length(text), counts(text)];
  },
  async domain(host) { return (await load("domains")).domainOf(host); },
  async url(address) { return (await load("domains")).canonicalUrl(address); },
  async compact(base64) {
    const { readCompact, writeCompact } = await load("brl");
    const { domainOfPage } = await load("domains");
    const { settings, labels } = readCompact(new Uint8Array(Buffer.from(base64, "base64")));
    const text = settings ? JSON.stringify(settings, null, 1).replace(/\n */g, " ")
      .replace(/([{[]) | ([}\]])/g, "$1$2") : "";
    return { settings, labels, written: Buffer.from(writeCompact(
      labels, (source) => domainOfPage(source) || source, text)).toString("base64") };
  },
  async refusal(base64) {
    const { readList } = await load("lists");
    try {
      readList(new Uint8Array(Buffer.from(base64, "base64")), "", 1);
      return "";
    } catch (error) {
      return error.message;
    }
  },
  async index({ changes, asked }) {
    const { Index } = await load("index");
    let index = new Index();
    for (const change of changes) index = index.with(new Map(Object.entries(change)));
    return asked.map((sha1) => index.find(sha1));
  },
  // Steps of tests/vectors/first_use.json, pages as their chunks.
  async sequence({ settings, steps }) {
    const { FirstUse } = await load("first_use");
    const { MemoryShelf } = await load("shelf");
    return replay(new FirstUse(new MemoryShelf(), settings), steps);
  },
};

async function replay(trust, steps) {
  const { canonicalUrl, domainOfPage } = await load("domains");
  const { addChunks } = await load("chunks");
  const { listed } = await load("shelf");
  const answers = [];
  for (const { act, url, day, texts, password, domains, domain } of steps) {
    if (act === "join") answers.push(await trust.join(domains) ?? null);
    if (act === "forget") answers.push(await trust.forget(domain) ?? null);
    if (act === "sites") {
      answers.push([...trust.shelf.sites.values()].map((site) => listed(site, trust.shelf.joined))
        .sort((a, b) => a.domain < b.domain ? -1 : 1));
    }
    if (act === "visit" || act === "trust") {
      const chunks = new Map();
      addChunks(chunks, texts);
      answers.push(await trust[act]({ url: canonicalUrl(url) || url, domain: domainOfPage(url),
                                      chunks, password, day }));
    }
  }
  return answers;
}

const values = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const value of values) answers.push(await functions[name](value));
process.stdout.write(JSON.stringify(answers));
