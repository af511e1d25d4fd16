// Edits of activations in the address, `edit=blocks.2.attn.hook_z@h4:zero,blocks.2.attn.hook_rot_q@h4@p7@i3:set=1.5`:
// a hook, its head, position and element (@h, @p, @i), and the operation. `L2H4:0` ablates a head.

import { type ActivationEdit, ClearformerError, type EditOp, type HookName, type Tensor } from 'clearformer';

/** A parsed edit. `set` replaces single elements, the other operations whole rows like the package's edits. */
export interface EditSpec {
  readonly hook: string;
  readonly head?: number;
  readonly pos?: number;
  readonly index?: number;
  readonly op: EditOp | 'set';
  readonly value?: number;
}

const form =
  /^(?<hook>[\w.*]+)(?:@h(?<head>-?\d+))?(?:@p(?<pos>-?\d+))?(?:@i(?<index>\d+))?:(?<op>zero|mean|scale|add|replace|set)(?:=(?<value>[-+.\deE]+))?$/;
const silenced = /^L(\d+)H(\d+):0$/;
const needValue: readonly string[] = ['scale', 'add', 'replace', 'set'];

/** Parses the edits of an address. Throws `invalid_argument` naming the edit that can't be parsed. */
export function parseEdits(text: string | undefined): EditSpec[] {
  return (text ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map(parseEdit);
}

function parseEdit(text: string): EditSpec {
  const short = silenced.exec(text);
  if (short) return { hook: `blocks.${short[1]}.attn.hook_z`, head: Number(short[2]), op: 'zero' };
  const { hook, head, pos, index, op, value } = form.exec(text)?.groups ?? {};
  const number = value === undefined ? undefined : Number(value);
  const wrong =
    hook === undefined ||
    (needValue.includes(op ?? '') && !Number.isFinite(number)) ||
    (op === 'set') !== (index !== undefined);
  if (wrong) throw new ClearformerError('invalid_argument', `the address has an edit that can't be read: ${text}`);
  return {
    hook,
    op: op as EditSpec['op'],
    ...(head !== undefined && { head: Number(head) }),
    ...(pos !== undefined && { pos: Number(pos) }),
    ...(index !== undefined && { index: Number(index) }),
    ...(number !== undefined && { value: number }),
  };
}

export function formatEdits(specs: readonly EditSpec[]): string | undefined {
  const texts = specs.map(({ hook, head, pos, index, op, value }) => {
    const at = [
      head !== undefined && `@h${head}`,
      pos !== undefined && `@p${pos}`,
      index !== undefined && `@i${index}`,
    ];
    return `${hook}${at.filter(Boolean).join('')}:${op}${value === undefined ? '' : `=${value}`}`;
  });
  return texts.length > 0 ? texts.join(',') : undefined;
}

/** The list with an edit added, which replaces one of the same target. */
export function withEdit(specs: readonly EditSpec[], added: EditSpec): EditSpec[] {
  const place = ({ hook, head, pos, index }: EditSpec): string => [hook, head, pos, index].join();
  return [...specs.filter((each) => place(each) !== place(added)), added];
}

/** Edits of the book in a model of fewer blocks or heads: those of its last. */
const fitted = (specs: readonly EditSpec[], layers: number, heads: number): EditSpec[] =>
  specs.map(({ hook, head, ...rest }) => ({
    ...rest,
    hook: hook.replace(/\.(\d+)\./, (_, layer) => `.${Math.min(Number(layer), layers - 1)}.`),
    ...(head !== undefined && { head: Math.min(head, heads - 1) }),
  }));

/** The edits that the reader chose, else the usual ones, in the last block and head where the model has fewer. */
export const specsOf = (chosen: string | undefined, usual: string, layers: number, heads: number): EditSpec[] =>
  chosen === undefined ? fitted(parseEdits(usual), layers, heads) : parseEdits(chosen);

/** Reads a hook's activation in a pass with these edits. */
type Reader = (hook: string, edits: readonly ActivationEdit[]) => Promise<Tensor<'float32'>>;

/**
 * Resolves them to the package's edits. An element is set by replacing its row, read from a pass with the preceding
 * edits; elements of one row that are set one after another become one edit.
 */
export async function resolveEdits(specs: readonly EditSpec[], read: Reader): Promise<ActivationEdit[]> {
  const edits: ActivationEdit[] = [];
  const rows = new Map<string, number[]>();
  for (const { hook, head, pos, index, op, value } of specs) {
    const part = { ...(head !== undefined && { head }), ...(pos !== undefined && { pos }) };
    if (op !== 'set') {
      edits.push({ hook: hook as HookName, ...part, op, ...(value !== undefined && { value }) });
      rows.clear(); // which the operation may have changed
      continue;
    }
    const key = [hook, head, pos].join();
    const known = rows.get(key);
    const row = known ?? rowOf(await read(hook, edits), hook, head, pos);
    if (index === undefined || index >= row.length) {
      throw new ClearformerError(
        'invalid_argument',
        `the address edits element ${index} of ${hook}, which has ${row.length}`,
      );
    }
    row[index] = value ?? 0;
    rows.set(key, row);
    if (!known) edits.push({ hook: hook as HookName, ...part, op: 'replace', value: row });
  }
  return edits;
}

/** The row at head and position of [1, pos, head, d], [1, head, query, key] or [1, pos, d]. */
function rowOf(tensor: Tensor<'float32'>, hook: string, head: number | undefined, pos: number | undefined): number[] {
  const { dims } = tensor;
  const scores = /hook_(attn_scores|attn_scores_raw|pattern)$/.test(hook);
  const wanted = dims.length === 4 ? (scores ? [0, head, pos] : [0, pos, head]) : [0, pos];
  const indices = wanted.map((at, axis) => {
    if (at !== undefined && Number(at) < Number(dims[axis])) return at;
    throw new ClearformerError(
      'invalid_argument',
      `the address edits a part that ${hook} [${dims.join(', ')}] does not have`,
    );
  });
  return Array.from(tensor.slice(...indices).data);
}
