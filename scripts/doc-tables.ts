// The record files → the reference tables inside docs/*.md.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { providers as knownProviders } from "../packages/ai/src/models/index.js";
import { sessionEvents } from "../packages/coding-agent/src/core/events.js";
import { rpcCommands, rpcErrorCodes, uiMethods } from "../packages/coding-agent/src/modes/rpc/rpc-types.js";
import { Settings } from "../packages/coding-agent/src/resources/settings.js";

interface Schema {
  title?: string;
  type?: string;
  const?: unknown;
  description?: string;
  default?: unknown;
  required?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  $ref?: string;
}

/** Marker name → the table's lines. A file shows it between `<!-- generated: NAME -->` and `<!-- end -->`. */
export function docTables(): Record<string, string> {
  return {
    commands: commands(),
    events: events(),
    "ui-methods": methods(),
    "error-codes": codes(),
    settings: settings(),
    rooms: rooms(),
    providers: providers(),
    "example-minimal": example("minimal"),
    "example-client": example("typed-client"),
    "example-inline-extension": example("inline-extension"),
    "example-subagent": example("subagent"),
    "example-tool": example("events-and-tools", "tool"),
    "example-events": example("events-and-tools", "events"),
  };
}

/** In the order in which they are looked at when nothing was chosen. */
function providers(): string {
  const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  const rows = Object.entries(knownProviders).map(([id, facts]) => {
    const { name, env, bearerEnv = [], ambientEnv = [], urlEnv = [], defaultModel, keyless } = facts;
    const keys = [...bearerEnv, ...env].map((variable) => code([variable]));
    const sets = ambientEnv.map((variables) => variables.map((variable) => code([variable])).join(" + "));
    const also = urlEnv.length > 0 ? ` with ${code(urlEnv)}` : "";
    return [
      code([id]),
      name,
      keyless ? "none needed; only by name" : [...keys, ...sets].join(", ") + also,
      code([defaultModel]),
    ];
  });
  return table(["Provider", "Name", "Credentials in the environment", "Model to start with"], rows);
}

/** The marked part of an example, which a test runs. */
function example(file: string, part = ""): string {
  const text = readFileSync(`packages/coding-agent/examples/sdk/${file}.ts`, "utf8");
  const start = `// docs:start${part && ` ${part}`}\n`;
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`examples/sdk/${file}.ts has no part "${part}"`);
  return `\`\`\`ts\n${text.slice(from + start.length, text.indexOf("// docs:end", from)).trim()}\n\`\`\``;
}

function commands(): string {
  return table(
    ["Command", "Parameters", "Data of the answer", "What it does"],
    Object.entries(rpcCommands).map(([name, { does, params, data }]) => [
      `\`${name}\``,
      fields(params as Record<string, Schema>),
      data ? shape(data as Schema) : "–",
      does,
    ]),
  );
}

function events(): string {
  const update = [
    "`message_update`",
    "`usage: Usage`, `assistantMessageEvent: JsonAssistantMessageEvent`",
    "",
    "A content block of the assistant's message grew, began or ended.",
  ];
  const rows = Object.entries(sessionEvents).map(([name, { does, fields: all, rpcOnly }]) => [
    `\`${name}\``,
    fields(all as Record<string, Schema>),
    rpcOnly ? "yes" : "",
    does,
  ]);
  const at = rows.findIndex(([name]) => name === "`message_end`");
  return table(["Event", "Fields", "RPC only", "Meaning"], [...rows.slice(0, at), update, ...rows.slice(at)]);
}

function methods(): string {
  return table(
    ["Method", "Fields", "Waits for an answer", "Meaning"],
    Object.entries(uiMethods).map(([name, { does, fields: all, dialog }]) => [
      `\`${name}\``,
      fields(all as Record<string, Schema>),
      dialog ? "yes" : "",
      does,
    ]),
  );
}

function codes(): string {
  return rpcErrorCodes.map((code) => `\`${code}\``).join(", ");
}

function settings(): string {
  const rows: string[][] = [];
  const walk = (schema: Schema, path: string) => {
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      const name = path ? `${path}.${key}` : key;
      if (inner.properties) walk(inner, name);
      else
        rows.push([
          `\`${name}\``,
          `\`${shape(inner).replaceAll("`", "")}\``,
          inner.default === undefined ? "" : `\`${JSON.stringify(inner.default)}\``,
          inner.description ?? "",
        ]);
    }
  };
  walk(Settings as Schema, "");
  return table(["Setting", "Type", "Default", "Meaning"], rows);
}

function rooms(): string {
  return spawnSync("node", ["scripts/check-layers.mjs", "--table"], { encoding: "utf8" }).stdout.trim();
}

function fields(all: Record<string, Schema>): string {
  const list = Object.entries(all).map(([name, schema]) => {
    const optional = "~optional" in schema;
    return `\`${name}${optional ? "?" : ""}: ${shape(schema).replaceAll("`", "")}\``;
  });
  return list.join(", ") || "–";
}

function shape(schema: Schema): string {
  if (schema.title) return schema.title;
  if (schema.$ref) return schema.$ref;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(shape).join(" or ");
  if (schema.type === "array") return `${wrap(shape(schema.items ?? {}))}[]`;
  if (schema.properties) {
    const inner = Object.entries(schema.properties).map(
      ([name, value]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${shape(value)}`,
    );
    return `{${inner.join(", ")}}`;
  }
  if (schema.patternProperties) return `{[name]: ${Object.values(schema.patternProperties).map(shape).join(" or ")}}`;
  return schema.type ?? "any";
}

const wrap = (text: string) => (text.includes(" or ") ? `(${text})` : text);

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
