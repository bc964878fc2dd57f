// Named queries of the server. Each has its parameters; an answer is JSON.

export async function ask(name, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const each of [value].flat()) if (each !== "" && each !== null && each !== undefined) query.append(key, String(each));
  }
  const answer = await fetch("/api/" + name + "?" + query, {signal, credentials: "same-origin", headers: {Accept: "application/json"}});
  const told = await answer.json().catch(() => ({error: "The viewer has not answered."}));
  if (!answer.ok) throw new Error(told.error || "The viewer has refused this.");
  return told;
}

let known;
// What the manifest says; the same for all screens.
export function overview() {
  known ??= ask("overview");
  return known;
}
