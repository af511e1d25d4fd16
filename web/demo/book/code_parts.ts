// Parts of the code that computes what a figure shows: a model's inputs and edits, in JavaScript and C++.

import type { EditSpec } from './edits.js';
import type { PassInputs } from './shelf.js';

/** The ids of inputs with one row. */
const idsIn = (rows: unknown): readonly number[] | undefined =>
  (rows as readonly (readonly number[])[] | undefined)?.[0];

/** Declares `inputs` as a figure's pass has them, from a text that has `of` tokens. */
export function inputsJs(text: string, pass?: PassInputs, of = 0): string {
  const given = `tokenizer(${JSON.stringify(text)})`;
  const read = idsIn(pass?.inputs.input_ids)?.length ?? of;
  const decoder = idsIn(pass?.inputs.decoder_input_ids);
  if (read >= of && !decoder) return `const inputs = ${given};\n`;
  const ids = read < of ? `input_ids: ${given}.input_ids.slice(null, [0, ${read}])` : `...${given}`;
  return `const inputs = { ${ids}${decoder ? `, decoder_input_ids: [[${decoder.join(', ')}]]` : ''} };\n`;
}

const inBraces = (parts: readonly (string | false)[]): string => `{ ${parts.filter(Boolean).join(', ')} }`;

function object({ hook, head, pos, op, value, index }: EditSpec): string {
  const row = `(await model.run_with_cache(inputs, { names_filter: '${hook}', edits }))[1]['${hook}']`;
  const scores = /hook_(attn_scores|attn_scores_raw|pattern)$/.test(hook);
  const at = (scores ? [0, head, pos] : [0, pos, head]).filter((place) => place !== undefined).join(', ');
  const set = `Array.from(${row}.slice(${at}).data).with(${index}, ${value})`;
  return inBraces([
    `hook: '${hook}'`,
    head !== undefined && `head: ${head}`,
    pos !== undefined && `pos: ${pos}`,
    `op: '${op === 'set' ? 'replace' : op}'`,
    op === 'set' ? `value: ${set}` : value !== undefined && `value: ${value}`,
  ]);
}

/** Declares `edits` for the model's `inputs`; nothing without edits. An element is set in the row as edited before. */
export function editsJs(specs: readonly EditSpec[]): string {
  if (specs.length === 0) return '';
  if (specs.every(({ op }) => op !== 'set'))
    return `const edits = [\n${specs.map((spec) => `  ${object(spec)},\n`).join('')}];\n`;
  return `const edits = [];\n${specs.map((spec) => `edits.push(${object(spec)});\n`).join('')}`;
}

/** One line for each edit of `trace`. */
export function editsCpp(specs: readonly EditSpec[]): string {
  const line = ({ hook, head, pos, op, value, index }: EditSpec): string => {
    const fields = [
      `.hook = "${hook}"`,
      `.op = Edit::Op::${op === 'set' ? 'replace' : op}`,
      head !== undefined && `.heads = {${head}}`,
      pos !== undefined && `.positions = {${pos}}`,
      (op === 'set' && '.value = row') || (value !== undefined && '.value = number'),
    ];
    const told = op === 'set' ? `row: what stands there, with ${value} at ${index}` : `number: the float32 ${value}`;
    const note = value === undefined ? '' : `  // ${told}`;
    return `trace.edit(Edit{${fields.filter(Boolean).join(', ')}});${note}\n`;
  };
  return specs.map(line).join('');
}
