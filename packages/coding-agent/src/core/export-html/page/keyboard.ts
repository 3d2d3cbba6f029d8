// The keys of the whole page. What is typed into a field, and what has a modifier, is left alone.

export interface KeyActions {
  search: () => void;
  step: (by: 1 | -1) => void;
  toggleAll: () => void;
  toggleOutline: () => void;
  escape: () => void;
}

export function listenToKeys(actions: KeyActions): void {
  const keys: Record<string, () => void> = {
    "/": actions.search,
    j: () => actions.step(1),
    k: () => actions.step(-1),
    e: actions.toggleAll,
    t: actions.toggleOutline,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape") return actions.escape();
    const target = event.target as Element;
    if (target.closest("input, select, textarea")) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  });
}
