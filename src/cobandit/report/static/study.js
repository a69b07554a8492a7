/* The buttons that copy a text of the report of a study. */
"use strict";
(() => {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const place = document.getElementById(button.dataset.copy);
    const said = button.nextElementSibling;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = [...place.querySelectorAll("p")].map((part) => part.textContent).join("\n\n");
      try {
        await navigator.clipboard.writeText(text);
        said.textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(place);
        said.textContent = "Selected: copy it with Ctrl+C, or ⌘C.";
      }
    });
  }
})();
