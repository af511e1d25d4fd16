// Exports of a figure: its values as files, named after the chapter and the expression of their source.

import { Tensor, toCSV, toNpy } from 'clearformer';
import type { Drawn, Numbers } from 'clearformer/elements';

/** The part of a figure that the menu uses. */
export interface MenuFigure extends HTMLElement {
  readonly chapter: { readonly id: string };
  drawn(): readonly Drawn[];
  /** What the columns of the drawn matrices are, where their sources do not say it. */
  columns?(): readonly Drawn[];
  code(): { js: string; cpp?: string | undefined; tl?: string | undefined };
}

/** An entry of the menu. */
export interface Matrix {
  readonly source: string;
  readonly numbers: Numbers;
  /** Without an extension. */
  readonly file: string;
}

/** The values as a tensor: float32 bit for bit, integers unchanged; JavaScript numbers are converted to float32. */
function tensorOf({ data, dims }: Numbers): Tensor {
  if (data instanceof Int32Array) return new Tensor('int32', data, dims);
  if (data instanceof Uint8Array) return new Tensor('uint8', data, dims);
  return new Tensor('float32', data instanceof Float32Array ? data : Float32Array.from(data), dims);
}

/** `blocks.2.attn.hook_q[0, :, 4]` -> `blocks.2.attn.hook_q-0-all-4`, valid on every file system. */
const slug = (source: string): string =>
  source
    .replace(/(?<![\w.]):(?![\w.])/g, 'all')
    .replace(/:(?! )/g, 'to')
    .replace(/[^\w.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 100) || 'numbers';

/** The matrices of a figure, and their columns, without duplicates; different ones with the same source get numbered file names. */
export function matricesOf(figure: MenuFigure): Matrix[] {
  const found: Matrix[] = [];
  const names = new Map<string, number>();
  for (const { source, numbers } of [...figure.drawn(), ...(figure.columns?.() ?? [])]) {
    if (!numbers || found.some((each) => each.source === source && each.numbers === numbers)) continue;
    const name = `${figure.chapter.id}-${slug(source)}`;
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    found.push({ source, numbers, file: count === 1 ? name : `${name}-${count}` });
  }
  return found;
}

export const shapeText = ({ dims }: Numbers): string => dims.join('×');

export const csvOf = ({ numbers }: Matrix): Blob => new Blob([toCSV(tensorOf(numbers))], { type: 'text/csv' });

export const npyOf = ({ numbers }: Matrix): Blob =>
  new Blob([toNpy(tensorOf(numbers)) as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' });
