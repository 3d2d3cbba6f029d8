// Makes elements. Text only ever becomes text nodes: nothing on the page is parsed as HTML.

type Child = Node | string | false | undefined;
type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes (`true` for an empty one, `false` or absent for none) and children. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

const bodies = new WeakMap<HTMLDetailsElement, () => Node>();

/** A fold whose body is made when it is first opened: before it opens, when somebody does that by hand. */
export function fold(name: string, summary: readonly Child[], body: () => Node): HTMLDetailsElement {
  const head = el("summary", {}, ...summary);
  const details = el("details", { class: `fold ${name}` }, head);
  bodies.set(details, body);
  head.addEventListener("click", () => details.open || fill(details));
  // Anything else that opens it, such as a search of the browser's own, is told of later.
  details.addEventListener("toggle", () => details.open && fill(details));
  return details;
}

/** Opens or closes a fold; its body is there when this returns. */
export function setOpen(details: HTMLDetailsElement, open: boolean): void {
  if (open) fill(details);
  details.open = open;
}

/** Makes the body of a fold, open or not. */
export function fill(details: HTMLDetailsElement): void {
  const body = bodies.get(details);
  if (!body) return;
  bodies.delete(details);
  details.append(el("div", { class: "fold-body" }, body()));
}

/** A button of text that says to everybody what it does. */
export function button(text: string, does: string, act: () => void): HTMLButtonElement {
  const element = el("button", { type: "button", "aria-label": does, title: does }, text);
  element.addEventListener("click", act);
  return element;
}
