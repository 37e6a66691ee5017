// Recipes: a tree of operators in words, and the blocks of nodes that the operators make.

import { get } from "./api.js";
import { h, later } from "./dom.js";

/** Return a recipe as a tree of operators and bases, each with its title. */
export function recipeView(recipe) {
  const made = h("div", { class: "recipe" }, h("h3", {}, "How to make this graph"));
  const titles = get("/v1/families").then(({ items }) => new Map(items.map((item) => [item.name, item.title])), () => new Map());
  made.append(later(titles.then((found) => h("ul", { class: "tree" }, branch(parse(recipe), found)))));
  return made;
}

function branch(term, titles) {
  const plain = term.parts.filter((part) => !part.name);
  const below = term.parts.filter((part) => part.name);
  return h("li", {}, h("code", {}, plain.length ? `${term.name}(${plain.map((part) => part.text).join(", ")})` : term.name),
    titles.has(term.name) && h("span", { class: "quiet" }, ` ${titles.get(term.name)}`),
    below.length > 0 && h("ul", {}, below.map((part) => branch(part, titles))));
}

/** Parse a recipe: `Name(part, ...)`, where a part is a recipe, a number or a name. */
export function parse(recipe) {
  const tokens = recipe.match(/[()]|,|[^(),\s][^(),]*/g) || [];
  let at = 0;
  function term() {
    const text = tokens[at++].trim();
    if (tokens[at] !== "(") return /^[A-Z]/.test(text) ? { name: text, parts: [] } : { text };
    const parts = [];
    at += 1;
    while (at < tokens.length && tokens[at] !== ")") {
      if (tokens[at] === ",") at += 1;
      else parts.push(term());
    }
    at += 1;
    return { name: text, parts };
  }
  return term();
}

/**
 * Return the sizes of nested blocks of nodes, outermost first, whose product is the number of
 * nodes: a node of a product is a tuple, a node of a line graph is a walk in its base graph, a
 * node of a lift is a vertex with an element of a group.  Node 0 begins the first block, and each
 * block has consecutive nodes.
 */
export function blocksOf(recipe, count, degree) {
  const sizes = recipe ? blocks(parse(recipe), count, degree).filter((size) => size > 1) : [];
  return sizes.reduce((product, size) => product * size, 1) === count ? sizes : [count];
}

function blocks(term, count, degree) {
  const numbers = term.parts.filter((part) => part.text).map((part) => Number(part.text));
  const inner = term.parts.filter((part) => part.name);
  const [first = 1, second = 1, third = 1, fourth = 1] = numbers;
  switch (term.name) {
    case "Product": return inner.map((part) => sizeOf(part));
    case "Power": return Array(first).fill(Math.round(count ** (1 / first)));
    case "Torus": return numbers;
    case "Hypercube": return [2 ** (first - Math.floor(first / 2)), 2 ** Math.floor(first / 2)];
    case "LineGraph": return [Math.round(count / degree ** first), ...Array(first).fill(degree)];
    case "DegreeExpansion": return inner.length ? [first, ...blocks(inner[0], count / first, degree / first)] : [];
    case "Shortened": case "Bidirected": return inner.length ? blocks(inner[0], count, degree) : [];
    case "Lift": return [fourth, third, first];
    case "Cayley": case "CayleyMetacyclic": return [third, first];
    case "CayleyNested": return [third, second, first];
    case "CayleyMatrix": return [third, first ** second];
    default: return [count];
  }
}

/** Return the number of nodes of a factor, if its name and numbers state the number. */
function sizeOf({ name, parts }) {
  const numbers = parts.map((part) => Number(part.text));
  if (name === "Torus") return numbers.reduce((product, size) => product * size, 1);
  if (name === "Hypercube") return 2 ** numbers[0];
  return name === "Diamond" ? 8 : numbers[0];
}
