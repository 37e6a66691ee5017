// Numbers as people say them: three significant digits and a unit.

const SPACE = "\u00a0"; // A line never breaks between a number and its unit.

/** Return a number with three significant digits. */
export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 999.5) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

function scaled(value, units, step) {
  let index = 0;
  while (index < units.length - 1 && value >= step * 0.9995) {
    value /= step;
    index += 1;
  }
  return `${digits(value)}${SPACE}${units[index]}`;
}

/** 0.0027 -> "2.70 ms" */
export function seconds(value) {
  if (value >= 120) return `${digits(value / 60)}${SPACE}min`;
  if (value >= 0.9995) return `${digits(value)}${SPACE}s`;
  return scaled(value * 1e9, ["ns", "µs", "ms"], 1000);
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
const DECIMAL = ["B", "KB", "MB", "GB", "TB"];

/** 1048576 -> "1 MiB", 1000000 -> "1 MB" */
export function bytes(value) {
  for (const [units, step] of [[BINARY, 1024], [DECIMAL, 1000]]) {
    for (let power = units.length - 1; power > 0; power -= 1) {
      if (value && value % step ** power === 0 && value / step ** power < step) return `${value / step ** power}${SPACE}${units[power]}`;
    }
  }
  return value < 1024 ? `${value}${SPACE}B` : scaled(value, BINARY, 1024);
}

/** Return the number of a fraction text: "277/256" -> 1.08203125. */
export function number(text) {
  const [above, below = "1"] = String(text).split("/");
  return Number(above) / Number(below);
}

/** "277/256" -> "1.08"; the exact fraction stays as a title. */
export function fraction(text) {
  return digits(number(text));
}

/** 1.052 -> "5.2%" */
export function percent(ratio) {
  return `${(Math.abs(ratio - 1) * 100).toFixed(1)}%`;
}

/** 0.917 -> "91.7%" */
export const share = (value) => `${(100 * value).toFixed(1)}%`;

/** "circulant-12x4-c960", or the recipe of a point without a short name. */
export function nameOf(point) {
  return point.name || point.recipe;
}

export function plural(count, noun, ending = "s") {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : ending}`;
}

/** Return a time, with the year of another year alone. */
export function when(text) {
  const time = new Date(text);
  const year = time.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return time.toLocaleString([], { ...year, month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
}

/** ["a", "b", "c"] -> "a, b and c" */
export const listed = (words) => [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");
