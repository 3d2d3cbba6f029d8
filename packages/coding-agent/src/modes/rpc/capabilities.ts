// What this program speaks, taken from the tables.

import { sessionEvents } from "../../core/events.js";
import { maxImageCount } from "../../lib/image.js";
import { supportedCommands } from "./rpc-commands.js";
import { heldAboveUnsent, maxRecordBytes } from "./rpc-mode.js";
import { type Capabilities, protocolVersion, schemaIds, uiMethods } from "./rpc-types.js";

export function capabilities(version: string): Capabilities {
  return {
    protocolVersion,
    version,
    commands: supportedCommands(),
    events: [...Object.keys(sessionEvents), "message_update"].sort(),
    uiMethods: Object.keys(uiMethods),
    schemas: { ...schemaIds },
    limits: {
      recordBytes: maxRecordBytes,
      unsentBytes: heldAboveUnsent,
      imagesPerMessage: maxImageCount,
      toolOutputLines: 2000,
      toolOutputBytes: 51_200,
    },
  };
}
