// The package's declarations compile as they are published, without skipLibCheck: in TypeScript's module resolutions, with
// the library dom and, on servers, without it. So do calls whose options and inputs have the package's own types, and
// README.md's first example.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${project}build/declarations_test/`; // within the project, where @types/node is found

const server = `
import { AutoModelForCausalLM, AutoTokenizer, cos_sim, d2l, nn, pipeline, type LoadOptions } from 'clearformer';
import * as inline from 'clearformer/inline';
import { AutoTokenizer as Alone } from 'clearformer/tokenizer';
import { apply_chat_template } from 'clearformer/chat_template';

const options: LoadOptions = { dtype: 'q8' };
export async function embed(text: string): Promise<string | undefined> {
  const tokenizer = await AutoTokenizer.from_pretrained('x');
  const model = await AutoModelForCausalLM.from_pretrained('x', options);
  const ids = await model.generate({ ...tokenizer(text), max_new_tokens: 3 });
  const { data } = await (await pipeline('feature-extraction', 'x'))([text], { pooling: 'mean', normalize: true });
  return cos_sim(Array.from(data, Number), [1]) > 0 ? tokenizer.batch_decode(ids)[0] : undefined;
}
export { Alone, apply_chat_template, d2l, inline, nn };
`;
// Without the library dom the package names browsers' types, and declares none.
const alone = `${server}// @ts-expect-error\nexport type Unknown = ImageData | FileList;\n`;
const page = `${server}import 'clearformer/elements';\nexport const map = document.querySelector('cf-attention')?.label;\n`;

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}node_modules`, { recursive: true });
  symlinkSync(project, `${folder}node_modules/clearformer`);
  writeFileSync(`${folder}package.json`, '{ "type": "module" }');
  copyFileSync(`${project}tests/web/support/typed_calls.ts`, `${folder}typed_calls.ts`);
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(`${project}README.md`, 'utf8')) ?? [];
  writeFileSync(`${folder}example.ts`, example);
});

it('name no buffer of typed arrays, which TypeScript can from 5.7 on', () => {
  const declared = readdirSync(`${project}dist`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  const naming = declared.filter((name) => /Array<\w*ArrayBuffer/.test(readFileSync(`${project}dist/${name}`, 'utf8')));
  expect(declared).toContain('index.d.ts');
  expect(naming).toEqual([]);
});

it.each([
  ['nodenext', 'nodenext', ['ES2022', 'DOM'], []],
  ['bundler', 'esnext', ['ES2022', 'DOM', 'DOM.Iterable'], []],
  ['nodenext', 'nodenext', ['ES2022'], ['node']],
] as const)('%s, module %s, lib %s, types %s', async (moduleResolution, module, lib, types) => {
  writeFileSync(`${folder}use.ts`, types.length > 0 ? alone : page);
  const compilerOptions = { moduleResolution, module, lib, types, target: 'es2022', strict: true, noEmit: true };
  const settings = {
    compilerOptions: { ...compilerOptions, skipLibCheck: false },
    files: ['use.ts', 'example.ts', 'typed_calls.ts'],
  };
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify(settings));
  const tsc = `${project}node_modules/typescript/bin/tsc`;
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error) => error);
  expect(stdout).toBe('');
});
