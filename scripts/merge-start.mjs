// Joins the chunks that every start reads into one file. A bundler that splits gives each set of modules that several
// lazy parts share a chunk of its own, and a start then reads dozens of them at about 1 ms of CPU each.

import { basename } from "node:path";
import { build } from "esbuild";

/**
 * Takes a split build that was not written (`outputFiles` and `metafile` of it) and writes it to `options.outdir`, with
 * the chunks of `entryPoints` and all that these import at once as `<name>.js`. What stays apart imports that file.
 */
export async function writeWithStart({ outputFiles, metafile }, { name, entryPoints, ...options }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const start = loadedAtOnce(outputs, entryPoints);
  const startFile = `${name}.js`;
  const chunks = [...start];
  /** What `from` exports as `export` is exported by the joined file as this. */
  const joinedName = (from, exported) => `from${chunks.indexOf(from)}_${exported}`;
  const reexports = (list, source, rename) =>
    list.map((each) => `export { ${rename(each)} } from ${JSON.stringify(source)};`).join("\n");

  const joined = {
    name: "joined",
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        if (kind === "entry-point") return { path, namespace: path === startFile ? "start" : "chunk" };
        const file = basename(path);
        if (!path.startsWith("./") || !texts.has(file)) return { path, external: true };
        if (!start.has(file)) return { path: `./${file}`, external: true };
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
  const { metafile: written } = await build({
    ...options,
    entryPoints: [startFile, ...apart].map((file) => ({ in: file, out: file.replace(/\.js$/, "") })),
    plugins: [joined],
    bundle: true,
    metafile: true,
  });
  return { ...written, inputs: metafile.inputs };
}

/**
 * Without the calls by which the bundler says of a function that it is called as it is called. Those of classes stay,
 * which it renames; to make all calls costs a start 10 ms.
 */
function withoutNames(text) {
  return text.replace(/__name\(([\w$]+),"\1"\)[,;]/g, "");
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
