// What this package offers: the loop, and the contracts around it.

export * from "./types.js";
