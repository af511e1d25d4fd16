// Type declarations: those that the entries' exports need, of the modules' files.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../toolchain/progress.js';
import { inProject } from './fresh.js';

interface Statement {
  text: string;
  /** What it declares; none for imports, lists of exports and global declarations. */
  name?: string | undefined;
}

/** A name of another file: `*` for all of its exports. */
interface Link {
  file: string;
  name: string;
}

/** A file of declarations. */
class Declarations {
  readonly statements: Statement[];
  /** By local name. */
  readonly imported = new Map<string, Link>();
  /** By exported name; a list for `export *`. */
  readonly passedOn = new Map<string, Link>();
  readonly stars: string[] = [];

  constructor(file: string, text: string) {
    this.statements = statementsOf(text).map((statement) => ({ text: statement, name: nameOf(statement) }));
    for (const { text: statement } of this.statements) this.#link(file, withoutComments(statement));
  }

  #link(file: string, code: string): void {
    const [, word, all, list = '', from] =
      /^(import|export) (?:type )?(?:(\* as \w+|\*)|\{([^}]*)\})(?: from '(\.[^']*)\.js')?/.exec(code) ?? [];
    if (word === undefined) return;
    const target = from === undefined ? file : join(dirname(file), `${from}.d.ts`);
    const table = word === 'import' ? this.imported : this.passedOn;
    if (all === '*') this.stars.push(target);
    else if (all !== undefined) table.set(all.slice('* as '.length), { file: target, name: '*' });
    for (const [, name = '', local = name] of list.matchAll(/(\w+)(?: as (\w+))?(?=\s*(?:,|$))/g))
      table.set(local, { file: target, name });
  }
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').trim();

/** The statements of a file as tsc writes it: each begins in the first column, after its comment. */
function statementsOf(text: string): string[] {
  const begins = /^(?=\/\*\*|(?:import|export|declare|abstract|type|interface|class|function|const)\b)/gm;
  const parts = text.split(begins);
  return parts.reduce<string[]>((found, part) => {
    const last = found.at(-1);
    if (last !== undefined && withoutComments(last) === '') found[found.length - 1] = last + part;
    else found.push(part);
    return found;
  }, []);
}

const nameOf = (statement: string): string | undefined =>
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|let|namespace|enum) (\w+)/.exec(
    withoutComments(statement),
  )?.[1];

/** The statements that the entries' exports name, directly or not. */
class Needed {
  readonly kept = new Set<Statement>();
  readonly files = new Map<string, Declarations>();
  readonly #asked = new Set<string>();

  at(file: string): Declarations {
    let found = this.files.get(file);
    if (found === undefined) {
      found = new Declarations(file, readFileSync(file, 'utf8'));
      this.files.set(file, found);
      for (const link of found.passedOn.values()) this.#follow(file, link);
      for (const statement of found.statements) {
        const [, path] = /^import '(\.[^']*)\.js'/m.exec(statement.text) ?? [];
        if (path !== undefined) this.#visitGlobal(join(dirname(file), `${path}.d.ts`));
        if (isGlobal(statement.text)) this.#keep(file, statement);
      }
    }
    return found;
  }

  #visitGlobal(file: string): void {
    if (isGlobal(readFileSync(file, 'utf8'))) this.at(file);
  }

  /** Keeps the declaration of an export, or of all exports (`*`). */
  ask(file: string, name: string): void {
    const key = `${file} ${name}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    const declarations = this.at(file);
    for (const statement of declarations.statements)
      if (statement.name !== undefined && (statement.name === name || (name === '*' && isExported(statement))))
        this.#keep(file, statement);
    for (const star of declarations.stars) this.ask(star, name);
  }

  #follow(from: string, { file, name }: Link): void {
    if (file === from) this.#mention(from, name);
    else this.ask(file, name);
  }

  /** Keeps what a name stands for in a file. */
  #mention(file: string, name: string): void {
    const { imported, statements } = this.at(file);
    const link = imported.get(name);
    if (link !== undefined) this.ask(link.file, link.name);
    for (const statement of statements) if (statement.name === name) this.#keep(file, statement);
  }

  #keep(file: string, statement: Statement): void {
    if (this.kept.has(statement)) return;
    this.kept.add(statement);
    const code = withoutComments(statement.text);
    for (const word of new Set(code.match(/\w+/g))) this.#mention(file, word);
    for (const [, path = '', name = '*'] of code.matchAll(/import\("(\.[^"]*)\.js"\)(?:\.(\w+))?/g))
      this.ask(join(dirname(file), `${path}.d.ts`), name);
  }
}

const isGlobal = (text: string): boolean => /^declare global/m.test(text);
const isExported = ({ text }: Statement): boolean => withoutComments(text).startsWith('export');

/** The file's text without the declarations and the imports that are not needed. */
function shortened(file: string, needed: Needed): string {
  const { statements } = needed.at(file);
  const kept = statements.filter((statement) => statement.name === undefined || needed.kept.has(statement));
  const words = new Set(
    kept.flatMap(({ text }) => (/^import\b/.test(text) ? [] : withoutComments(text).match(/\w+/g))),
  );
  const exists = (path: string): boolean => needed.files.has(join(dirname(file), `${path}.d.ts`));
  return kept
    .map(({ text }) => {
      const [, module = ''] = /^import '([^']*)';$/m.exec(text) ?? [];
      if (module !== '') return exists(module.replace(/\.js$/, '')) ? text : text.replace(/^import '.*';\n/m, '');
      return text.replace(/^(import (?:type )?)\{([^}]*)\}/, (_, word: string, list: string) => {
        const used = list.split(',').filter((each) => words.has(/(\w+)\s*$/.exec(each)?.[1] ?? ''));
        return `${word}{${used.join(',')}}`;
      });
    })
    .filter((text) => !/^import (type )?\{\s*\}/.test(text))
    .join('');
}

export async function emitDeclarations(): Promise<void> {
  const tsc = inProject('node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', inProject('tsconfig.package.json')], { cwd: inProject() });
  const folder = inProject('dist');
  const needed = new Needed();
  const entries = ['index', 'tokenizer', 'chat_template', 'whole', 'elements', 'worker'];
  for (const entry of entries) needed.ask(join(folder, `${entry}.d.ts`), '*');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!file.endsWith('.d.ts')) continue;
    if (needed.files.has(file)) writeFileSync(file, shortened(file, needed));
    else rmSync(file);
  }
}
