// JSON of values nested deeper than JSON.stringify can go: an entry tree is as deep as its session is long.

/** The same text as JSON.stringify for plain data; depth is limited by memory alone. `undefined` gives undefined. */
export function stringifyDeep(value: unknown): string | undefined {
  const first = scalar(value);
  if (first !== container) return first;
  const parts: string[] = [];
  const open: Frame[] = [frameOf(value as object)];
  parts.push((open[0] as Frame).opening);
  while (open.length > 0) {
    const frame = open[open.length - 1] as Frame;
    const step = frame.next();
    if (!step) {
      parts.push(frame.closing);
      open.pop();
      continue;
    }
    const text = scalar(step.value);
    if (text === undefined && step.key !== undefined) continue; // a member that has no JSON is left out
    if (frame.count > 0) parts.push(",");
    frame.count += 1;
    if (step.key !== undefined) parts.push(JSON.stringify(step.key), ":");
    if (text !== container) parts.push(text ?? "null");
    else {
      const inner = frameOf(plain(step.value) as object);
      open.push(inner);
      parts.push(inner.opening);
    }
  }
  return parts.join("");
}

interface Frame {
  opening: string;
  closing: string;
  /** Members written so far. */
  count: number;
  next: () => { key?: string; value: unknown } | undefined;
}

const container = Symbol("container");

/** The text of a value without members; `container` for one with. */
function scalar(value: unknown): string | undefined | typeof container {
  const data = plain(value);
  return typeof data === "object" && data !== null ? container : JSON.stringify(data);
}

function plain(value: unknown): unknown {
  const toJson = (value as { toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJson === "function" ? toJson.call(value) : value;
}

function frameOf(value: object): Frame {
  let at = 0;
  if (Array.isArray(value))
    return {
      opening: "[",
      closing: "]",
      count: 0,
      next: () => (at < value.length ? { value: value[at++] } : undefined),
    };
  const entries = Object.entries(value);
  return {
    opening: "{",
    closing: "}",
    count: 0,
    next: () => {
      const entry = entries[at++];
      return entry && { key: entry[0], value: entry[1] };
    },
  };
}
