// The bindings are declared once, in web/src/runtime/border.ts. This compares the declarations with the C++: the tables
// of bindings.cpp and threads.cpp name the same functions, each reads exactly the declared arguments, and no optional
// argument is read as if it were required.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const bindings = join(root, 'cpp/bindings');
const source = (path: string) => readFileSync(join(root, path), 'utf8');

/** Look-ups of Arguments (marshal.h) that treat an absent argument as none, false, or empty. */
const lenient = [
  'has',
  'flag',
  'optional_number',
  'optional_floats',
  'texts',
  'objects',
  'integer_list',
  'json',
  'mask',
];
lenient.push('masks');

const table = ['bindings', 'threads'].flatMap((name) => [
  ...source(`cpp/bindings/${name}.cpp`).matchAll(/\{"(\w+)", (\w+)\},/g),
]);

/** Whether an argument is required. */
type Reads = Map<string, 'needed' | 'optional'>;

/** Functions, constructors and structs that read arguments: their source by name. */
function readers(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const file of readdirSync(bindings).filter((name) => /\.(cpp|h)$/.test(name))) {
    if (file.startsWith('marshal')) continue;
    for (const [text] of source(`cpp/bindings/${file}`).matchAll(
      /^(?![}\s/#]|namespace)[^\n;]*[^;]*?\{(?:\}$|.*?^\})/gms,
    )) {
      const name =
        /^(?:struct|class) (\w+)/.exec(text)?.[1] ??
        /^[^{]*?(\w+)::\w+\(const Arguments&/.exec(text)?.[1] ??
        /^[^{]*?(\w+)\(const Arguments& arguments/.exec(text)?.[1];
      if (name !== undefined && text.includes('rguments')) texts.set(name, (texts.get(name) ?? '') + text);
    }
  }
  return texts;
}

/** Whether the arguments are passed on to `name`, or it is a member of a struct that reads them. */
function passesOn(text: string, name: string): boolean {
  return /^(struct|class)/.test(text) || new RegExp(`\\b${name}\\b[^;]*\\barguments\\b(?!\\.)`).test(text);
}

function readsOf(name: string, texts: Map<string, string>, seen = new Set<string>()): Reads {
  const reads: Reads = new Map();
  const note = (key: string, optional: boolean) => {
    if (optional || !reads.has(key)) reads.set(key, optional ? 'optional' : 'needed');
  };
  const whole = texts.get(name) ?? '';
  // The contents of `if (arguments.has(…)) { … }` are read conditionally.
  const [text, guarded] = [whole.replace(guard, ''), [...whole.matchAll(guard)].map(([part]) => part).join('\n')];
  seen.add(name);
  for (const [word] of whole.matchAll(/\w+/g)) {
    if (!texts.has(word) || seen.has(word) || !passesOn(whole, word)) continue;
    for (const [key, how] of readsOf(word, texts, seen)) note(key, how === 'optional');
  }
  for (const [, how = '', key = ''] of text.matchAll(/\barguments\.(\w+)\(\s*"(\w+)"/g))
    note(key, lenient.includes(how));
  for (const [, key = ''] of guarded.matchAll(/\barguments\.\w+\(\s*"(\w+)"/g)) note(key, true);
  // helper(arguments, "key") and helper(arguments, "key", fallback)
  for (const [, keys = '', more] of text.matchAll(/\w+\(arguments, ((?:"\w+"(?:, (?="))?)+)(, )?/g)) {
    for (const [, key = ''] of keys.matchAll(/"(\w+)"/g)) note(key, more !== undefined);
  }
  // const auto size = [&](const char* key) …; size("key")
  for (const [, local] of text.matchAll(/const auto (\w+) = \[&\]\(const char\*/g)) {
    for (const [, key = ''] of text.matchAll(new RegExp(`\\b${local}\\("(\\w+)"`, 'g'))) note(key, false);
  }
  if (whole.includes(': kInputNames')) {
    const [, list = ''] = /kInputNames\[\] = \{(.*?)\n\};/s.exec(source('cpp/clearformer/models/model.h')) ?? [];
    for (const [, key = ''] of list.matchAll(/\{"(\w+)"/g)) note(key, true);
  }
  return reads;
}

const guard = /^ {2}if \(arguments\.has\("\w+"\)\) \{.*?^ {2}\}/gms;
const union = (names: readonly string[]) => names.map((name) => `'${name}'`).join(' | ') || 'never';

/** The compiler's errors about each function's declaration compared with the C++; none when they agree. */
function disagreements(functions: ReadonlyMap<string, Reads>): string {
  const checks = [...functions].map(([name, reads]) => {
    const keys = [...reads.keys()];
    const optional = keys.filter((key) => reads.get(key) === 'optional');
    return `export const ${name}: Agrees<'${name}', ${union(keys)}, ${union(optional)}> = 'the same';`;
  });
  const text = `import type { ArgumentsOf, Border, BorderName } from '../web/src/runtime/border.js';
type Keys<T> = T extends unknown ? (string extends keyof T ? never : keyof T) : never;
type IsOptional<T, K extends PropertyKey> = T extends unknown
  ? K extends keyof T ? (undefined extends T[K] ? true : {} extends Pick<T, K> ? true : never) : never : never;
type Optional<T> = { [K in Keys<T>]: true extends IsOptional<T, K> ? K : never }[Keys<T>];
type Agrees<N extends BorderName, Reads, Lenient> =
  [Exclude<Keys<ArgumentsOf<N>>, Reads>, Exclude<Reads, Keys<ArgumentsOf<N>>>, Exclude<Optional<ArgumentsOf<N>>, Lenient>] extends
    [never, never, never] ? 'the same'
  : { unread: Exclude<Keys<ArgumentsOf<N>>, Reads>; undeclared: Exclude<Reads, Keys<ArgumentsOf<N>>>;
      needed_there: Exclude<Optional<ArgumentsOf<N>>, Lenient> };
export const names: Record<keyof Border, true> = { ${[...functions.keys()].map((name) => `${name}: true`).join(', ')} };
${checks.join('\n')}
`;
  const folder = mkdtempSync(join(root, 'build-border-'));
  try {
    const file = join(folder, 'agreement.ts');
    writeFileSync(file, text);
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --target esnext --module nodenext'.split(' ');
    flags.push('--types', 'node', '--ignoreConfig');
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...flags, file], { cwd: root });
    return '';
  } catch (thrown) {
    return String((thrown as { stdout?: unknown }).stdout ?? thrown);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const texts = readers();
const functions = new Map(table.map(([, name = '']) => [name, readsOf(name, texts)]));

describe('border.ts and cpp/bindings', () => {
  it('name the same functions, under their own names', () => {
    for (const [, name, implementation] of table) expect(implementation).toBe(name);
    expect(functions.size).toBeGreaterThan(50);
  });

  it('agree on the arguments of every function', () => {
    expect(disagreements(functions)).toBe('');
  });

  it('are called while allocations fail, every one', () => {
    const folder = 'tests/cpp/allocation';
    const calls = readdirSync(join(root, folder))
      .filter((name) => name.startsWith('border_'))
      .map((name) => source(`${folder}/${name}`))
      .join('\n');
    const called = [...calls.matchAll(/\bbindings::(\w+)>\(|\bPLAIN\(\s*(\w+),|\banswer\(bindings::(\w+),/g)];
    const names = new Set(called.flatMap(([, ...found]) => found).filter((name) => name !== undefined));
    const all = [...source('cpp/bindings/bindings.cpp').matchAll(/\{"(\w+)", \w+\},/g)].map(([, name = '']) => name);
    expect(all.filter((name) => !names.has(name))).toEqual([]);
  });

  it('is a comparison that notices what differs', () => {
    const changed = new Map(functions);
    changed.set('softmax', new Map([['x', 'needed']])); // does not read the axis
    changed.set('bmm', new Map([...(functions.get('bmm') as Reads), ['transposed', 'needed']])); // reads one more
    changed.set(
      'layer_norm',
      new Map([...(functions.get('layer_norm') as Reads).keys()].map((key) => [key, 'needed'])),
    );
    changed.delete('release');
    const found = disagreements(changed);
    expect(found).toMatch(/unread: "axis"/);
    expect(found).toMatch(/undeclared: "transposed"/);
    expect(found).toMatch(/needed_there: Optional<NormArguments>/);
    expect(found).toMatch(/'release' is missing/);
  });
});
