"use strict";
// The theme wraps wide tables when the page is there; whoever uses the keyboard must be able to scroll them, too.
new MutationObserver(() => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) wrap.setAttribute("tabindex", "0");
}).observe(document.documentElement, { childList: true, subtree: true });
