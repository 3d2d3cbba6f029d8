// Finding by letters in order, as people type them.

/** Whether all letters occur in order, and how well: lower scores are better. */
export interface FuzzyMatch {
  matches: boolean;
  score: number;
}

/** Upper and lower case are the same. Letters together, and at the starts of words, count as better. */
export function fuzzyMatch(query: string, text: string): FuzzyMatch {
  const letters = query.toLowerCase();
  const where = text.toLowerCase();
  if (letters === "") return { matches: true, score: 0 };
  let score = 0;
  let at = -1;
  for (const letter of letters) {
    const found = where.indexOf(letter, at + 1);
    if (found < 0) return { matches: false, score: 0 };
    const gap = found - at - 1;
    if (at >= 0) score += gap === 0 ? -5 : Math.min(gap, 10);
    if (found === 0 || /[\s\-_./:]/.test(where[found - 1] as string)) score -= 10;
    score += found * 0.1;
    at = found;
  }
  return { matches: true, score: letters === where ? score - 100 : score };
}

/** The items in which every word of the query is found, best first; all of them, in their order, for no query. */
export function fuzzyFilter<T>(items: readonly T[], query: string, getText: (item: T) => string): T[] {
  const words = query.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...items];
  return items
    .flatMap((item) => {
      const found = words.map((word) => fuzzyMatch(word, getText(item)));
      if (!found.every(({ matches }) => matches)) return [];
      return [{ item, score: found.reduce((sum, { score }) => sum + score, 0) }];
    })
    .sort((a, b) => a.score - b.score)
    .map(({ item }) => item);
}
