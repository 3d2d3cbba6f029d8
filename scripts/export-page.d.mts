// What scripts/export-page.mjs gives to configurations written in TypeScript.

/** A plugin of the test runner. */
export function exportPageVitePlugin(): {
  name: string;
  enforce: "pre";
  resolveId: (id: string) => string | undefined;
  load: (id: string) => Promise<string | undefined>;
};
