// The record files → JSON Schema documents (draft 2020-12), named records hoisted to `$defs`.

import { type TSchema, Type } from "typebox";
import { eventSchema, type SessionEventName, sessionEvents } from "../packages/coding-agent/src/core/events.js";
import { JsonMessageUpdate } from "../packages/coding-agent/src/modes/json-event.js";
import {
  RpcExtensionUIClosed,
  RpcExtensionUIResponse,
  RpcFailure,
  rpcCommands,
  schemaIds,
  uiMethods,
} from "../packages/coding-agent/src/modes/rpc/rpc-types.js";
import { Settings } from "../packages/coding-agent/src/resources/settings.js";
import { SessionEntry, SessionHeader } from "../packages/coding-agent/src/sessions/entries.js";

type Json = Record<string, unknown>;

/** File name without its ending → the document. */
export function schemaFiles(): Record<string, Json> {
  const commands = Object.entries(rpcCommands).map(([name, { does, params }]) =>
    Type.Object({ type: Type.Literal(name), id: Type.Optional(Type.Unknown()), ...params }, { description: does }),
  );
  const answers = Object.entries(rpcCommands).map(([name, { data }]) =>
    Type.Object({
      id: Type.Optional(Type.Unknown()),
      type: Type.Literal("response"),
      command: Type.Literal(name),
      success: Type.Literal(true),
      ...(data && { data: data as TSchema }),
    }),
  );
  const requests = Object.entries(uiMethods).map(([method, { does, fields }]) =>
    Type.Object(
      { type: Type.Literal("extension_ui_request"), id: Type.String(), method: Type.Literal(method), ...fields },
      { description: does },
    ),
  );
  const names = Object.keys(sessionEvents) as SessionEventName[];
  const streamed = names.filter((name) => !sessionEvents[name].rpcOnly);
  return {
    "rpc-input": file("rpc-input", "A record a client writes to stdin of RPC mode.", [
      ...commands,
      RpcExtensionUIResponse,
    ]),
    "rpc-output": file("rpc-output", "A record RPC mode writes to stdout.", [
      ...answers,
      RpcFailure,
      JsonMessageUpdate,
      ...names.map(eventSchema),
      ...requests,
      RpcExtensionUIClosed,
    ]),
    "json-events": file("json-events", "A record JSON mode writes to stdout.", [
      SessionHeader,
      JsonMessageUpdate,
      ...streamed.map(eventSchema),
    ]),
    "session-entry": file("session-entry", "A line of a session file.", [SessionHeader, SessionEntry]),
    settings: settingsFile(),
  };
}

function file(name: keyof typeof schemaIds, description: string, records: TSchema[]): Json {
  const defs: Json = {};
  const oneOf = records.map((record) => hoist(record, defs));
  return { $schema: draft, $id: schemaIds[name], description, oneOf, $defs: sorted(defs) };
}

function settingsFile(): Json {
  const defs: Json = {};
  const body = hoistChildren(plain(Settings), defs);
  return {
    $schema: draft,
    $id: schemaIds.settings,
    ...body,
    ...(Object.keys(defs).length > 0 && { $defs: sorted(defs) }),
  };
}

const draft = "https://json-schema.org/draft/2020-12/schema";

/** A record with a title is written once, under its title. */
function hoist(schema: unknown, defs: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, defs));
  if (typeof schema !== "object" || schema === null) return schema;
  const value = plain(schema);
  const { title } = value;
  if (typeof title !== "string") {
    if (typeof value.$ref === "string" && !value.$ref.startsWith("#")) return { $ref: `#/$defs/${value.$ref}` };
    return hoistChildren(value, defs);
  }
  if (!(title in defs)) {
    defs[title] = {}; // holds the place while its own children are walked
    const { title: _, ...rest } = value;
    defs[title] = hoistChildren(rest, defs);
  }
  return { $ref: `#/$defs/${title}` };
}

function hoistChildren(value: Json, defs: Json): Json {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hoist(inner, defs)]));
}

/** Without the marks the schema library adds for itself. */
function plain(schema: object): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !key.startsWith("~")));
}

function sorted(defs: Json): Json {
  return Object.fromEntries(Object.entries(defs).sort(([a], [b]) => (a < b ? -1 : 1)));
}
