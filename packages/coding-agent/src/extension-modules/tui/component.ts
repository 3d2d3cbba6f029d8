// What a component is, and the simplest ones: a list of others, and empty lines.

/** Draws itself as lines of at most `width` columns. Lines are read-only for whoever gets them. */
export interface Component {
  render(width: number): string[];
  /** Takes what the terminal sends while the component has the focus. */
  handleInput?(data: string): void;
  /** Forgets lines kept from earlier. */
  invalidate?(): void;
  /** Ends what goes on in the background. */
  dispose?(): void;
}

/** A component that shows a cursor while it has the focus. */
export interface Focusable {
  focused: boolean;
}

/** Stands before the cursor in a rendered line; terminals show nothing of it. */
export const CURSOR_MARKER = "\u001b_pi:c\u0007";

/** Marks one cell as the cursor, for whoever draws. */
export function renderFakeCursor(cell: string): string {
  return `\u001b_pi:fc\u0007${cell}\u001b_pi:/fc\u0007`;
}

export function isFocusable(component: unknown): component is Component & Focusable {
  return typeof component === "object" && component !== null && "focused" in component;
}

/** Components one below the other. */
export class Container implements Component {
  children: Component[] = [];

  addChild(component: Component): void {
    this.children.push(component);
  }

  removeChild(component: Component): void {
    this.children = this.children.filter((child) => child !== component);
  }

  clear(): void {
    this.children = [];
  }

  invalidate(): void {
    for (const child of this.children) child.invalidate?.();
  }

  /** Nothing here has a mouse; false says that an event was not handled. */
  handleMouse(_event?: unknown): boolean {
    return false;
  }

  render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

/** Empty lines. */
export class Spacer implements Component {
  #lines: number;

  constructor(lines = 1) {
    this.#lines = lines;
  }

  setLines(lines: number): void {
    this.#lines = lines;
  }

  invalidate(): void {}

  render(_width: number): string[] {
    return Array.from({ length: Math.max(0, this.#lines) }, () => "");
  }
}
