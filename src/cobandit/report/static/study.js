/* The buttons that copy a text of the report of a study. */
"use strict";
(() => {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll("button[data-copy]");
  for (const button of buttons) {
    const place = document.getElementById(button.dataset.copy ?? "");
    const said = button.nextElementSibling;
    if (!place || !said) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = [...place.querySelectorAll("p")].map((part) => part.textContent).join("\n\n");
      try {
        await navigator.clipboard.writeText(text);
        said.textContent = "Copied.";
      } catch {
        getSelection()?.selectAllChildren(place);
        said.textContent = "Selected: copy it with Ctrl+C, or ⌘C.";
      }
    });
  }
})();
