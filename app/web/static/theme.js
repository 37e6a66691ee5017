// Light and dark: the choice of the user, else that of the system.

// A canvas has no style: it is painted again when the colors change.
const themed = () => document.dispatchEvent(new CustomEvent("theme"));

/** Apply the stored choice; let the button of the page switch. */
export function themes() {
  const stored = localStorage.getItem("topoloom-theme");
  if (stored) document.documentElement.dataset.theme = stored;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("topoloom-theme", document.documentElement.dataset.theme);
    themed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
}
