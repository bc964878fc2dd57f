// Named queries of the server. Each has its parameters; an answer is JSON.

async function sent(address, options, unknown = "") {
  try { return await fetch(address, {credentials: "same-origin", ...options}); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The viewer does not answer: it may have ended. " + unknown
      + "Start it again: beam-reuse view DIR");
  }
}

export async function ask(name, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const each of [value].flat()) {
      if (each !== "" && each !== null && each !== undefined) query.append(key, String(each));
    }
  }
  const answer = await sent("/api/" + name + "?" + query,
    {signal, headers: {Accept: "application/json"}});
  const told = await answer.json().catch(() => ({error: "The viewer has not answered."}));
  if (!answer.ok) throw new Error(told.error || "The viewer has refused this.");
  return told;
}

// Change something. What the server says of a change that it has refused is the error's message;
// `meanwhile` says that somebody else was faster. Without an answer nobody here knows whether the
// change was stored: the server stores first, and answers then.
export async function change(name, parameters = {}) {
  const answer = await sent("/api/" + name,
    {method: "POST", headers: {Accept: "application/json", "Content-Type": "application/json"},
      body: JSON.stringify(parameters)},
    "Whether this was stored is not known: look at it when the viewer runs again. ");
  const told = await answer.json().catch(() => ({error: "The viewer has not answered."}));
  if (!answer.ok) throw Object.assign(new Error(told.error || "The viewer has refused this."),
    {meanwhile: answer.status === 409});
  return told;
}

let known;
// What the manifest says; the same for all screens.
export function overview() {
  known ??= ask("overview");
  return known;
}
