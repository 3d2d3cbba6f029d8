// Lists of names that either replace a selection or change it: `["read", "bash"]`, `["+grep", "-write"]`.

/**
 * Applies a list to a selection. Plain names, if there are any, are the new selection; then `+name` adds and `-name`
 * removes, in their order. An empty list selects nothing.
 */
export function selectNames(selection: readonly string[], list: readonly string[]): string[] {
  const isChange = (name: string) => name.startsWith("+") || name.startsWith("-");
  const changes = list.filter(isChange);
  const selected = new Set(
    list.length > 0 && changes.length === list.length ? selection : list.filter((n) => !isChange(n)),
  );
  for (const change of changes)
    if (change.startsWith("+")) selected.add(change.slice(1));
    else selected.delete(change.slice(1));
  return [...selected];
}
