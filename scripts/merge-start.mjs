// Joins the chunks that every start reads into one file. A bundler that splits gives each set of modules that several
// lazy parts share a chunk of its own, and a start then reads dozens of them at about 1 ms of CPU each.

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { build } from "esbuild";

/**
 * Takes a split build that was not written (`outputFiles` and `metafile` of it) and writes it to `options.outdir`, with
 * the chunks of `entryPoints` and all that these import at once as `<name>-<hash>.js`. What stays apart imports that file;
 * `main` is the entry point that keeps its name.
 */
export async function writeWithStart({ outputFiles, metafile }, { name, main, entryPoints, ...options }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const start = loadedAtOnce(outputs, entryPoints);
  const chunks = [...start];
  // Names say what is in a file: a process that began with another build must not find other text under one it knows.
  const contents = createHash("sha256")
    .update([...texts.keys()].sort().join())
    .digest("hex")
    .slice(0, 8);
  const startFile = `${name}-${contents}.js`;
  /** The name under which a file is written. */
  const written = (file) =>
    file === startFile || outputs.get(file).entryPoint === main ? file : file.replace(/\.js$/, `-${contents}.js`);
  /** What `from` exports as `export` is exported by the joined file as this. */
  const joinedName = (from, exported) => `from_${from.replace(/\W/g, "_")}_${exported}`;
  const reexports = (list, source, rename) =>
    list.map((each) => `export { ${rename(each)} } from ${JSON.stringify(source)};`).join("\n");

  const joined = {
    name: "joined",
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        if (kind === "entry-point") return { path, namespace: path === startFile ? "start" : "chunk" };
        const file = basename(path);
        if (!path.startsWith("./") || !texts.has(file)) return { path, external: true };
        if (!start.has(file)) return { path: `./${written(file)}`, external: true };
        if (importer === startFile || start.has(importer)) return { path: file, namespace: "chunk" };
        // Outside: never a second copy of it. What is imported late there stays late.
        if (kind === "dynamic-import") return { path: `./${startFile}`, external: true };
        return { path: file, namespace: "outside" };
      });
      builder.onLoad({ filter: /.*/, namespace: "start" }, () => ({
        contents: chunks
          .flatMap((chunk) => {
            const { exports, entryPoint } = outputs.get(chunk);
            const source = `./${chunk}`;
            // By its own name too what is imported late from outside.
            const own = entryPoint ? exports : [];
            return [
              reexports(exports, source, (each) => `${each} as ${joinedName(chunk, each)}`),
              reexports(own, source, (each) => each),
            ];
          })
          .join("\n"),
      }));
      builder.onLoad({ filter: /.*/, namespace: "chunk" }, ({ path }) => ({
        contents: start.has(path) ? withoutNames(texts.get(path)) : texts.get(path),
      }));
      builder.onLoad({ filter: /.*/, namespace: "outside" }, ({ path }) => {
        const rename = (each) => `${joinedName(path, each)} as ${each}`;
        return { contents: reexports(outputs.get(path).exports, `./${startFile}`, rename) };
      });
    },
  };
  const apart = [...texts.keys()].filter((file) => !start.has(file));
  const result = await build({
    ...options,
    entryPoints: [startFile, ...apart].map((file) => ({ in: file, out: written(file).replace(/\.js$/, "") })),
    plugins: [joined],
    bundle: true,
    metafile: true,
  });
  return { ...result.metafile, inputs: metafile.inputs };
}

/**
 * Without the calls by which the bundler says of a function that it is called as it is called: to make them costs a start
 * 10 ms. Those of classes stay, so that every class keeps its name; a function may be renamed when files are joined.
 */
function withoutNames(text) {
  let end = 0;
  return text.replace(/__name\(([\w$]+),"\1"\)[,;]/g, (call, _, at) => {
    // In the middle of an expression something else would be taken away with it.
    if (at > 0 && at !== end && !/[;{}\n]/.test(text[at - 1]))
      throw new Error(`Cannot take this out: …${text.slice(Math.max(0, at - 40), at + call.length)}`);
    end = at + call.length;
    return "";
  });
}

/** The files of these entry points, and all that is read with them. */
function loadedAtOnce(outputs, entryPoints) {
  const found = new Set();
  const add = (file) => {
    if (found.has(file)) return;
    found.add(file);
    for (const { kind, path, external } of outputs.get(file).imports)
      if (kind === "import-statement" && !external) add(basename(path));
  };
  for (const entryPoint of entryPoints) {
    const files = [...outputs].filter(([, output]) => output.entryPoint === entryPoint);
    if (files.length !== 1) throw new Error(`${entryPoint} is imported late by nothing, so it has no chunk of its own`);
    add(files[0][0]);
  }
  return found;
}
