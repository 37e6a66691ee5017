// A page of the documentation: its theme, and its list of pages, which is folded on a phone.

import { themes } from "./theme.js";

themes();
if (innerWidth < 760) document.querySelector(".sheet").open = false;
document.querySelector(".pages [aria-current]")?.scrollIntoView({ block: "nearest" });
