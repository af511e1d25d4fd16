// Parts of the code that computes what a figure shows: a model's inputs and edits, in JavaScript, C++
// and with TransformerLens.

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

/** Declares `inputs` of these ids in C++. */
const inputsCpp = (ids: readonly number[]): string =>
  `const std::vector<std::int32_t> input_ids{${ids.join(', ')}};\ninputs.input_ids = TensorView(input_ids.data(), DType::i32, {1, ${ids.length}});\n`;

interface InputsCode {
  readonly js: string;
  readonly cpp: string;
  /** An expression. */
  readonly tl: string;
}

/** The inputs of a figure whose reader has chosen tokens: these ids; without any those of the text, as `inputsJs`. */
export function inputsOf(ids: readonly number[], ...text: Parameters<typeof inputsJs>): InputsCode {
  if (ids.length === 0) return { js: inputsJs(...text), cpp: '', tl: JSON.stringify(text[0]) };
  const rows = `[[${ids.join(', ')}]]`;
  return { js: `const inputs = { input_ids: ${rows} };\n`, cpp: inputsCpp(ids), tl: `torch.tensor(${rows})` };
}

const inBraces = (parts: readonly (string | false)[]): string => `{ ${parts.filter(Boolean).join(', ')} }`;

const isScores = (hook: string): boolean => /hook_(attn_scores|attn_scores_raw|pattern)$/.test(hook);
/** The package's operation: an element is set by replacing it alone. */
const operation = ({ op }: EditSpec): string => (op === 'set' ? 'replace' : op);

function object(spec: EditSpec): string {
  const { hook, head, pos, index, value } = spec;
  return inBraces([
    `hook: '${hook}'`,
    head !== undefined && `head: ${head}`,
    pos !== undefined && `pos: ${pos}`,
    index !== undefined && `${isScores(hook) ? 'key_pos' : 'feature'}: ${index}`,
    `op: '${operation(spec)}'`,
    value !== undefined && `value: ${value}`,
  ]);
}

/** Declares `edits`, after those of a figure's own; nothing without any. */
export function editsJs(specs: readonly EditSpec[], own: readonly string[] = []): string {
  const all = [...own, ...specs.map(object)];
  return all.length === 0 ? '' : `const edits = [\n${all.map((each) => `  ${each},\n`).join('')}];\n`;
}

/** One line for each edit of `trace`, after what makes tensors of their numbers. */
export function editsCpp(specs: readonly EditSpec[]): string {
  const line = (spec: EditSpec): string => {
    const { hook, head, pos, index, value } = spec;
    const fields = [
      `.hook = "${hook}"`,
      `.op = Edit::Op::${operation(spec)}`,
      head !== undefined && `.heads = {${head}}`,
      pos !== undefined && `.positions = {${pos}}`,
      index !== undefined && `${isScores(hook) ? '.key_positions' : '.features'} = {${index}}`,
      value !== undefined && `.value = number(${value})`,
    ];
    return `trace.edit(Edit{${fields.filter(Boolean).join(', ')}});\n`;
  };
  const number =
    'const auto number = [](float value) { return Tensor::copy_of(TensorView(&value, DType::f32, {1})); };\n';
  return `${specs.some(({ value }) => value !== undefined) ? number : ''}${specs.map(line).join('')}`;
}

/** Runs `call` of TransformerLens, under a figure's own edits and these: hooks that change activations. */
export function editedTl(call: string, specs: readonly EditSpec[], own: readonly string[] = []): string {
  if (specs.length + own.length === 0) return call;
  const named = [...own, ...specs.map(({ hook }, i) => `(${patternTl(hook)}, edit_${i})`)].join(', ');
  const any = specs.some(({ hook }) => hook.includes('*')) ? 'from fnmatch import fnmatch\n' : '';
  return `${any}${specs.map(functionTl).join('')}with model.hooks(fwd_hooks=[${named}]):\n    ${call}`;
}

const patternTl = (hook: string): string =>
  hook.includes('*') ? `lambda name: fnmatch(name, "${hook}")` : `"${hook}"`;

function functionTl({ hook, head, pos, index, op, value }: EditSpec, i: number): string {
  const axes = isScores(hook) ? [head ?? ':', pos ?? ':', index] : [pos ?? ':', head, index];
  const part = `x[${[':', ...axes].filter((at) => at !== undefined).join(', ')}]`;
  const mean = `x.mean((0, ${isScores(hook) ? 2 : 1}), keepdim=True).expand_as(x)${part.slice(1)}`;
  const sign = op === 'scale' ? '*=' : op === 'add' ? '+=' : '=';
  return `def edit_${i}(x, hook):\n    ${part} ${sign} ${value ?? (op === 'mean' ? mean : 0)}\n    return x\n`;
}

/** A pass of TransformerLens that leaves `logits` and `cache`. */
export const passTl = (text: string, specs: readonly EditSpec[] = []): string =>
  `${editedTl(cachedTl(JSON.stringify(text)), specs)}\n`;

/** The pass over an expression of inputs. */
export const cachedTl = (inputs: string): string => `logits, cache = model.run_with_cache(${inputs})`;
