import { defineConfig } from "vitest/config";
import { exportPageVitePlugin } from "./scripts/export-page.mjs";

export default defineConfig({
  plugins: [exportPageVitePlugin()],
  resolve: { conditions: ["pi-source"] },
  ssr: { resolve: { conditions: ["pi-source"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    pool: "threads",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // As long as a record is waited for: on a busy machine even a shell takes a second to start.
    expect: { poll: { timeout: 20_000 } },
  },
});
