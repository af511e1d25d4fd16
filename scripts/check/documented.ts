// Every public export has a doc comment: the part of `npm run build -- docs` that needs no packages of its own, so that
// an undocumented export is found by every `npm test`. Reads the declarations in dist/.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';

/** The entries of the API reference, as in scripts/docs/typedoc.json. */
function entries(): string[] {
  const { entryPoints } = JSON.parse(readFileSync(inProject('scripts/docs/typedoc.json'), 'utf8'));
  return entryPoints.map((path: string) => inProject('scripts/docs', path));
}

/** An exported name and the text of the file that exports it. */
interface Exported {
  name: string;
  file: string;
}

const fileOf = (from: string, path: string): string => join(dirname(from), path.replace(/\.js$/, '.d.ts'));

const namesIn = (list: string): string[] =>
  list.split(',').flatMap((each) => /^(?:type )?(\w+)/.exec(each.trim())?.slice(1) ?? []);

/** What `file` exports: the names declared there, imported or passed on, and those of whole files (`*`). */
export function exportsOf(file: string, text: string): Exported[] {
  const lists = (word: string) => [
    ...text.matchAll(new RegExp(`^${word} (?:type )?\\{([^}]*)\\}(?: from '(\\.[^']*)')?`, 'gm')),
  ];
  const imported = new Map(
    lists('import').flatMap(([, list = '', path = '']) =>
      namesIn(list).map((name) => [name, fileOf(file, path)] as const),
    ),
  );
  const named = lists('export').flatMap(([, list = '', path]) =>
    namesIn(list).map((name) => ({
      name,
      file: path === undefined ? (imported.get(name) ?? file) : fileOf(file, path),
    })),
  );
  const whole = [...text.matchAll(/^export \*(?: as (\w+))? from '(\.[^']*)'/gm)].flatMap(([, name, path = '']) => [
    { name: '*', file: fileOf(file, path) },
    ...(name === undefined ? [] : [{ name, file }]),
  ]);
  const own = [...text.matchAll(declaration)].map(([, name = '']) => ({ name, file }));
  return [...named, ...whole, ...own];
}

const kinds = 'function|class|abstract class|interface|type|const|let|enum|namespace|\\* as';
const declaration = new RegExp(`^export (?:declare )?(?:${kinds}) (\\w+)`, 'gm');

/** Whether a declaration of `name` follows a doc comment; undefined if it is not declared in `text`. */
export function isDocumented(text: string, name: string): boolean | undefined {
  const found = [...text.matchAll(new RegExp(`^(?:export )?(?:declare )?(?:${kinds}) ${name}\\b`, 'gm'))];
  if (found.length === 0) return undefined;
  return found.some(({ index }) => text.slice(0, index).trimEnd().endsWith('*/'));
}

/** Methods, and properties that are functions, of the interface `name` that follow no doc comment. */
export function undocumentedMembers(text: string, name: string): string[] {
  const body =
    new RegExp(`^export (?:declare )?interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)?.[1] ?? '';
  const members = [...body.matchAll(/^ {4}(?:readonly )?(\w+)\??(?:<.*>)?(?:\(|: \(.*\) => )/gm)];
  return members.filter(({ index }) => !body.slice(0, index).trimEnd().endsWith('*/')).map(([, member = '']) => member);
}

export async function checkDocumented(): Promise<string> {
  const texts = new Map<string, string>();
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? (existsSync(file) ? readFileSync(file, 'utf8') : '');
    texts.set(file, text);
    return text;
  };
  const checked = new Set<string>();
  const missing: string[] = [];
  const visit = ({ name, file }: Exported): void => {
    const key = `${file}: ${name}`;
    if (checked.has(key)) return;
    checked.add(key);
    if (name === '*') {
      exportsOf(file, textOf(file)).forEach(visit);
      return;
    }
    const documented = isDocumented(textOf(file), name);
    const members = undocumentedMembers(textOf(file), name).map((member) => `${name}.${member}`);
    for (const each of [...(documented === false ? [name] : []), ...members])
      missing.push(`${each} has no doc comment (declared in ${file})`);
    if (documented !== undefined) return;
    const passedOn = exportsOf(file, textOf(file)).filter((each) => each.name === name && each.file !== file);
    if (passedOn.length === 0)
      throw new SetupError(`scripts/check/documented.ts finds no declaration of ${name} in ${file}`);
    passedOn.forEach(visit);
  };
  for (const entry of entries()) exportsOf(entry, textOf(entry)).forEach(visit);
  if (missing.length > 0) throw new SetupError(missing.join('\n'));
  return `${checked.size} exports`;
}
