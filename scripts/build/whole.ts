// node.js and whole.js: the modules that both always need, in one file, which Node loads in a third of the time of many files
// and which compresses better than two. An import() of a module in it loads nothing, as service workers require. The others
// (tasks, formats, code for servers) are in files that are loaded on demand.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { common, plugins, shortening, staticImports } from './bundler.js';
import { inProject } from './fresh.js';

/** Texts of modules by their names, such as `built:worker`. */
type Scripts = Readonly<Record<string, string>>;

const entries = { node: inProject('web/src/node.ts'), whole: inProject('web/src/whole.ts') };

const files = (scripts: Scripts): Plugin => ({
  name: 'files of the package',
  load: (id) => scripts[id] ?? null,
  resolveId(source) {
    const [, assets] = /\/((?:hook_)?assets)\.js$/.exec(source) ?? [];
    if (assets !== undefined) return inProject(`web/src/runtime/${assets}_whole.ts`);
    if (source in scripts) return source;
    return source === 'built:embedded' ? { id: './embedded.js', external: true } : null;
  },
});

/** Writes them to dist/; `scripts` are modules that export the text of a script. */
export async function bundleWhole(define: Record<string, string>, scripts: Scripts): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    ...common,
    input: entries,
    plugins: [files(scripts), ...plugins],
    transform: { ...common.transform, define },
    treeshake: { moduleSideEffects: true }, // the entries import what must be included
    logLevel: 'silent', // it would warn about each import() of an included module
  });
  let parts: Set<string> | undefined;
  await build.write({
    dir: inProject('dist'),
    format: 'esm',
    minify: shortening,
    chunkFileNames: 'whole-[name].js',
    codeSplitting: {
      groups: [
        {
          name: (id, graph) => {
            parts ??= staticImports(graph, entries.whole);
            return parts.has(id) ? 'core' : null;
          },
        },
      ],
    },
  });
  await build.close();
  for (const name of readdirSync(inProject('dist')).filter((each) => /^(node|whole).*\.js$/.test(each))) {
    const file = inProject('dist', name);
    writeFileSync(file, inLines(inAscii(readFileSync(file, 'utf8'))));
  }
}

/** Engines store an ASCII script with one byte per character; a single other character doubles that. */
function inAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Begins a line with the next statement, variable or member of a class after so many characters: Node shows the whole line
 * of an error. Shorter lines compress worse.
 */
const lineLength = 1000;

function inLines(code: string): string {
  const places: number[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, body, declarations } = node as { type?: string; body?: unknown; declarations?: unknown };
    const parts = type === 'ClassBody' || type === 'BlockStatement' || type === 'Program' ? body : declarations;
    if (Array.isArray(parts)) places.push(...parts.map(({ start }: { start: number }) => start));
    Object.values(node).forEach(visit);
  };
  visit(parseAst(code));
  let lines = '';
  let from = 0;
  for (const place of places.sort((a, b) => a - b)) {
    if (place - from < lineLength) continue;
    lines += `${code.slice(from, place)}\n`;
    from = place;
  }
  return lines + code.slice(from);
}
