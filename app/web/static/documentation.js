// A page of the documentation: its theme, and its list of pages, which is folded on a phone.

import { themes } from "./theme.js";

themes();
const wide = matchMedia("(min-width: 760px)");
const fold = () => { document.querySelector(".sheet").open = wide.matches; };
fold();
wide.addEventListener("change", fold);
document.querySelector(".pages [aria-current]")?.scrollIntoView({ block: "nearest" });
