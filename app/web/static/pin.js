// A button that pins a stored document, and unpins it: the service never evicts a pinned document.

import { send } from "./api.js";
import { h } from "./dom.js";

/** Return the button of a document `{id, pinned}` of a kind, such as "designs". */
export function pinButton(kind, document) {
  let pinned = document.pinned;
  const button = h("button", { type: "button", class: "pin", onclick: async () => {
    button.disabled = true;
    try {
      await send(`/v1/${kind}/${document.id}/pin`, pinned ? "DELETE" : "PUT");
      pinned = !pinned;
      tell();
    } catch (error) {
      button.textContent = error.message;
    }
    button.disabled = false;
  } });
  const tell = () => {
    button.textContent = pinned ? "★ Pinned" : "☆ Pin";
    button.setAttribute("aria-pressed", String(pinned));
  };
  tell();
  return button;
}
