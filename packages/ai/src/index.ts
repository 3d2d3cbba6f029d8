// What this package offers: one model call, its records, and the models it knows.

export * from "./types.js";
