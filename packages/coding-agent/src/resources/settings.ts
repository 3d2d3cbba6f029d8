// The settings: one schema with types, defaults and descriptions. Settings of terminal interfaces are kept, not read.

import { ThinkingLevel } from "@earendil-works/pi-ai";
import type { Static, TSchema } from "typebox";
import * as Type from "typebox";

const tokens = (description: string, value: number) => Type.Integer({ minimum: 0, default: value, description });
const flag = (description: string, value: boolean) => Type.Boolean({ default: value, description });
const strings = (description: string) => Type.Array(Type.String(), { default: [], description });
const choice = <const Names extends readonly string[]>(description: string, names: Names, value: Names[number]) =>
  Type.Union(
    names.map((name) => Type.Literal(name as Names[number])),
    { default: value, description },
  );
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const timeout = (description: string, value: number) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Literal("disabled")], { default: value, description });

const queueMode = (which: string) =>
  choice(`How queued ${which} messages are delivered.`, ["one-at-a-time", "all"] as const, "one-at-a-time");

/** A package as it stands in the settings: its source alone, or with lists that narrow what it brings. */
export const PackageEntry = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Object({
    source: Type.String({ minLength: 1 }),
    extensions: Type.Optional(Type.Array(Type.String())),
    skills: Type.Optional(Type.Array(Type.String())),
    prompts: Type.Optional(Type.Array(Type.String())),
    themes: Type.Optional(Type.Array(Type.String())),
    autoload: Type.Optional(Type.Boolean()),
  }),
]);
export type PackageEntry = Static<typeof PackageEntry>;

/** Every setting as it is in force: what has a default is always there. In a file everything may be left out. */
export const Settings = Type.Object(
  {
    $schema: text("Where editors find the schema of this file; not used."),
    defaultProvider: text("Provider of the model to start with."),
    defaultModel: text("Id of the model to start with."),
    defaultThinkingLevel: Type.Unsafe<ThinkingLevel>({
      ...(ThinkingLevel as TSchema),
      default: "medium",
      description: "Thinking level to start with.",
    }),
    modelThinkingLevels: Type.Record(Type.String(), ThinkingLevel, {
      default: {},
      description: "Thinking level to start with for single models, by `provider/modelId`.",
    }),
    thinkingBudgets: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      default: {},
      description: "Tokens for thinking by level (minimal, low, medium, high), for models that take a budget.",
    }),
    enabledModels: strings("Patterns of the models to start with and to cycle through, as for `--models`."),
    steeringMode: queueMode("steering"),
    followUpMode: queueMode("follow-up"),
    defaultProjectTrust: choice(
      "Whether a project without a saved decision may bring resources. User settings only.",
      ["ask", "always", "never"] as const,
      "ask",
    ),
    defaultTools: Type.Array(Type.String({ minLength: 1 }), {
      default: ["read", "bash", "edit", "write"],
      description: "Tools at start. Plain names replace the selection, `+name` adds a tool, `-name` removes one.",
    }),
    sessionDir: text("Directory of session files; relative to the working directory."),
    compaction: Type.Object(
      {
        enabled: flag("Compact by itself when the context is nearly full.", true),
        reserveTokens: tokens("Compaction starts when fewer tokens than this are free.", 16384),
        keepRecentTokens: tokens("Recent tokens that are kept as they are.", 20000),
        modelOverrides: Type.Record(
          Type.String(),
          Type.Object({
            reserveTokens: Type.Optional(Type.Integer({ minimum: 0 })),
            keepRecentTokens: Type.Optional(Type.Integer({ minimum: 0 })),
          }),
          { default: {}, description: "Token numbers for single models, by `provider/modelId`." },
        ),
      },
      { description: "Summarising older messages." },
    ),
    branchSummary: Type.Object(
      {
        reserveTokens: tokens("Tokens kept free when a branch that is left is summarised.", 16384),
        skipPrompt: flag("Do not ask whether to summarise a branch that is left; do not summarise it.", false),
      },
      { description: "Summarising a branch that is left." },
    ),
    images: Type.Object(
      {
        autoResize: flag("Make images at most 2000 by 2000 pixels before a model sees them.", true),
        blockImages: flag("Never send images to models.", false),
      },
      { description: "Images in prompts and tool results." },
    ),
    transport: choice(
      "Accepted for compatibility; has no effect.",
      ["auto", "sse", "websocket", "websocket-cached"] as const,
      "auto",
    ),
    cacheWarming: choice(
      "Accepted for compatibility; has no effect. User settings only.",
      ["off", "streaming", "idle"] as const,
      "off",
    ),
    httpProxy: text("Proxy for all requests where the environment names none. User settings only."),
    httpIdleTimeoutMs: timeout(
      "Milliseconds without anything from a provider before a request fails; 0 = never.",
      300000,
    ),
    websocketConnectTimeoutMs: timeout("Milliseconds. Accepted for compatibility; has no effect.", 15000),
    retry: Type.Object(
      {
        enabled: flag("Try again after failures that may pass.", true),
        maxRetries: Type.Integer({ minimum: 0, default: 3, description: "How often." }),
        baseDelayMs: Type.Number({ minimum: 0, default: 2000, description: "First delay, doubled each time." }),
        maxAgentDelayMs: Type.Number({ minimum: 0, default: 60000, description: "Longest delay." }),
        provider: Type.Object(
          {
            timeoutMs: Type.Optional(
              Type.Number({
                minimum: 0,
                description: "Milliseconds until a provider must have taken a request; 0 = any time.",
              }),
            ),
            maxRetries: Type.Integer({
              minimum: 0,
              default: 0,
              description: "How often a request is sent again before it counts as failed.",
            }),
            maxRetryDelayMs: Type.Number({
              minimum: 0,
              default: 60000,
              description:
                "Milliseconds a server may ask to wait before such a retry; the request fails if it asks for more. 0 = any.",
            }),
          },
          { description: "Retries of single requests." },
        ),
      },
      { description: "Trying again by itself." },
    ),
    shellPath: text("The shell that runs commands."),
    shellCommandPrefix: text("Put before every shell command."),
    shell: Type.Object(
      {
        hideCredentials: Type.Union([Type.Boolean(), Type.Array(Type.String())], {
          default: false,
          description:
            "Keep keys out of the environment of commands: true for every variable read as a key, or a list.",
        }),
      },
      { description: "What commands may see." },
    ),
    npmCommand: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Command and first arguments used in place of npm to install packages.",
      }),
    ),
    selfUpdateCommand: Type.Optional(
      Type.Array(Type.String(), {
        description: "Kept for other programs: this one does not update itself. User settings only.",
      }),
    ),
    packages: Type.Array(PackageEntry, {
      default: [],
      description: "Packages that bring resources: sources, or objects with `source` and lists that narrow them.",
    }),
    extensions: strings("Extension files or directories; `!glob`, `+path` and `-path` choose among what is found."),
    skills: strings("Skill files or directories; chosen among likewise."),
    prompts: strings("Prompt template files or directories; chosen among likewise."),
    enableSkillCommands: flag("List skills as `/skill:name` commands; they can be called in any case.", true),
    codemode: Type.Object(
      {
        mode: choice("How scripts see tools.", ["on", "only"] as const, "on"),
        inlineBudget: Type.Number({ minimum: 0, default: 3000, description: "Tokens for declarations of tools." }),
      },
      { description: "Kept for other programs: there is no tool of this name yet." },
    ),
    sessionShareDestination: choice(
      "Kept for other programs: nothing is shared from here.",
      ["auto", "gist", "radius"] as const,
      "auto",
    ),
    enableInstallTelemetry: flag("Kept for other programs: nothing is ever reported from here.", true),
    enableAnalytics: flag("Kept for other programs: nothing is ever reported from here.", false),
    warnings: Type.Object(
      { anthropicExtraUsage: flag("Kept for other programs: no subscription is used here.", true) },
      { description: "Warnings that can be turned off." },
    ),
  },
  { title: "Settings" },
);
export type Settings = Static<typeof Settings>;

/** Settings that a project's file cannot change. */
export const userOnlySettings: readonly (keyof Settings)[] = [
  "defaultProjectTrust",
  "cacheWarming",
  "httpProxy",
  "selfUpdateCommand",
];

/** Lists of which the user's and the project's are joined instead of the project's replacing the user's. */
export const joinedSettings: readonly (keyof Settings)[] = ["packages", "extensions", "skills", "prompts"];

/** A fresh copy of the defaults. */
export function defaultSettings(): Settings {
  return defaultsOf(Settings as unknown as SchemaNode) as Settings;
}

interface SchemaNode {
  default?: unknown;
  properties?: Record<string, SchemaNode>;
}

function defaultsOf(schema: SchemaNode): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  if (!schema.properties) return undefined;
  const members = Object.entries(schema.properties).map(([key, member]) => [key, defaultsOf(member)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
