// Makes plotly-scatter.min.js and LICENSES.txt: plotly.js with scatter traces only and without the texts that document
// its attributes. It is a sixth smaller than the smallest official bundle (plotly.js-basic-dist-min).
//
//   npm install --no-save plotly.js@4.1.1 esbuild@0.28.2 && node build.mjs

import { readFile, writeFile } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { build } from "esbuild";

/** Removes `description: ...`, which only the plot schema uses; plotly's own builds do the same. */
const withoutDescriptions = {
  name: "without-descriptions",
  setup({ onLoad }) {
    onLoad({ filter: /plotly\.js\/src\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const string = `(?:'(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*")`;
      const list = `\\[(?:\\s|,|//[^\\n]*|${string})*\\]\\.join\\(${string}\\)`;
      const sum = `(?:${string}|${list})(?:\\s*\\+\\s*(?:${string}|${list}))*`;
      const description = new RegExp(`\\bdescription:\\s*${sum}\\s*(,|(?=\\s*\\}))`, "g");
      return { contents: text.replace(description, ""), loader: "js" };
    });
  },
};

const version = JSON.parse(await readFile("node_modules/plotly.js/package.json", "utf8")).version;
const { metafile } = await build({
  stdin: { contents: 'module.exports = require("plotly.js/lib/core");', resolveDir: "." },
  bundle: true,
  minify: true,
  charset: "ascii",
  legalComments: "none",
  format: "iife",
  globalName: "Plotly",
  define: { global: "window", "define.amd": "false" },
  loader: { ".css": "empty" },
  target: "es2020",
  banner: { js: `/*! plotly.js ${version}, scatter traces only. MIT licence; LICENSES.txt has the texts. */` },
  plugins: [withoutDescriptions],
  outfile: "plotly-scatter.min.js",
  metafile: true,
});

const used = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
const name = (path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[0];
const folders = [...new Set(used.filter(([, part]) => part.bytesInOutput > 0).map(([path]) => name(path)))];
let texts = "";
for (const folder of folders.filter(Boolean).sort()) {
  const about = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file && existsSync(`${folder}/${file}`) ? await readFile(`${folder}/${file}`, "utf8") : "";
  const rule = "-".repeat(100);
  texts += `${rule}\n${about.name} ${about.version} (${about.license ?? "see text"})\n${rule}\n${text.trim()}\n\n`;
}
await writeFile("LICENSES.txt", texts.replaceAll("\r\n", "\n"));
