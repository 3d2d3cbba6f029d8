// Bundles script and style of the exported page, and gives them to a bundler as the module "pi:export-page".

import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { collectNotices } from "./notices.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(root, "packages/coding-agent/src/core/export-html/page");
const moduleName = "pi:export-page";

/** `inputs` are the source files of the script, relative to the repository. */
export async function buildExportPage() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(page, "main.ts"), join(page, "page.css")],
    outdir: join(root, "export-page"),
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
  });
  const output = (extension) => outputFiles.find(({ path }) => path.endsWith(extension)).text.trim();
  const inputs = Object.keys(metafile.inputs);
  // Every exported file is a copy of these packages, so their licences go with it.
  const notices = collectNotices(root, inputs).replace("The pi command", "This script").replaceAll("*/", "* /");
  const script = inlineScript(`/*\n${notices}*/\n${output(".js")}`);
  const style = output(".css");
  if (/<\/style/i.test(style)) throw new Error("The page's style would end its own element");
  return { script, style, inputs };
}

/** Inside an HTML script element these two would change where it ends; both are spelled otherwise in strings and patterns. */
function inlineScript(code) {
  const inline = code.replaceAll("<!--", "\\x3c!--").replace(/<(?=\/?script)/gi, "\\x3c");
  new Function(inline); // throws where one of them was neither
  return inline;
}

async function moduleText() {
  const { script, style, inputs } = await buildExportPage();
  const contents = `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`;
  return { contents, inputs };
}

/** For esbuild; `found` is told of the page's source files. */
export function exportPagePlugin(found = () => {}) {
  return {
    name: "export-page",
    setup(builder) {
      builder.onResolve({ filter: /^pi:export-page$/ }, () => ({ path: moduleName, namespace: "export-page" }));
      builder.onLoad({ filter: /.*/, namespace: "export-page" }, async () => {
        const { contents, inputs } = await moduleText();
        found(inputs);
        return { contents, loader: "js" };
      });
    },
  };
}

/** For the test runner, which loads the sources. */
export function exportPageVitePlugin() {
  return {
    name: "export-page",
    enforce: "pre",
    resolveId: (id) => (id === moduleName ? `\0${moduleName}` : undefined),
    load: async (id) => (id === `\0${moduleName}` ? (await moduleText()).contents : undefined),
  };
}
