"use strict";
// Commands name the folder that the report is in, where it was opened from a disk.
const folder = location.protocol === "file:"
  ? decodeURIComponent(new URL(".", location.href).pathname)
  : ".";
const quoted = /^[\w.\/-]+$/.test(folder) ? folder : "'" + folder.replaceAll("'", "'\\''") + "'";
for (const button of document.querySelectorAll("button.copy")) {
  const code = button.previousElementSibling;
  const command = code.textContent.replace("beam-reuse sql . ",
    () => "beam-reuse sql " + quoted + " ");
  button.addEventListener("click", async () => {
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      code.classList.add("whole");
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done = "Selected";
    }
    button.textContent = done;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
