// What each of the six matrices shows: the slice shown, its source expression, and the marks of its cells.

import type { CellTest, Numbers } from 'clearformer/elements';
import type { EditSpec } from '../../book/edits.js';
import { partOf, rangeOf, type Window } from '../../book/window.js';
import type { Spans } from './geometry.js';
import { at, type Float, type HeadData, type MatrixName, type Stage } from './head_numbers.js';

interface MatrixView {
  readonly name: MatrixName;
  readonly numbers: Numbers;
  readonly source: string;
  /** Rows and columns of `numbers` within the whole matrix. */
  readonly rows: Window;
  readonly columns: Window;
  readonly bound: number;
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  readonly masked: CellTest | undefined;
  readonly changed: CellTest | undefined;
  readonly edited: CellTest | undefined;
  readonly secret: CellTest | undefined;
  readonly editable: boolean;
}

export type Views = Readonly<Record<MatrixName, MatrixView>>;

interface ViewRequest {
  readonly data: HeadData;
  readonly spans: Spans;
  readonly stage: Stage;
  /** The row of weights hidden while a class guesses; -1: none. */
  readonly secretRow: number;
  readonly edits: readonly EditSpec[];
}

const stageOf = (matrix: MatrixName, stage: Stage): Exclude<MatrixName, 'S'> | Stage =>
  matrix === 'S' ? stage : matrix;

/** The bound of the colour scale: twice the root mean square of the finite values. */
export function boundOf(...tensors: readonly Float[]): number {
  let [sum, count] = [0, 0];
  for (const { data } of tensors) {
    for (const value of data) {
      if (!Number.isFinite(value)) continue;
      sum += value * value;
      count++;
    }
  }
  return 2 * Math.sqrt(sum / Math.max(1, count)) || 1;
}

export function viewsOf(request: ViewRequest): Views {
  const { data, spans, stage } = request;
  const { queries, keys, inner, outer } = spans;
  const { before, now } = data;
  const [ofScores, ofValues] = [boundOf(before.Q, before.K), boundOf(before.V, before.Z)];
  const elements = (span: Window): string[] => Array.from({ length: span.count }, (_, i) => String(span.from + i + 1));
  const rowNames = data.queries.slice(queries.from, queries.from + queries.count);
  const keyNames = data.keys.slice(keys.from, keys.from + keys.count);
  const view = (
    name: MatrixName,
    rows: Window,
    columns: Window,
    bound: number,
    labels: readonly (readonly string[])[],
  ): MatrixView => {
    const whole = now[stageOf(name, stage)];
    const [rowLabels = [], columnLabels = []] = labels;
    return {
      name,
      numbers: whole.slice(rangeOf(rows), rangeOf(columns)),
      source: data.source(name, stage, { rows: partOf(rows), columns: partOf(columns) }),
      rows,
      columns,
      bound,
      rowLabels,
      columnLabels,
      editable: data.hooks ? name !== 'Z' && !(name === 'S' && stage === 'raw') : 'QKV'.includes(name),
      ...marksOf(request, name, rows, columns),
    };
  };
  return {
    Q: view('Q', queries, inner, ofScores, [rowNames, elements(inner)]),
    K: view('K', keys, inner, ofScores, [keyNames, elements(inner)]),
    V: view('V', keys, outer, ofValues, [keyNames, elements(outer)]),
    S: view('S', queries, keys, boundOf(before[stage]), [rowNames, keyNames]),
    A: view('A', queries, keys, 1, [rowNames, keyNames]),
    Z: view('Z', queries, outer, ofValues, [rowNames, elements(outer)]),
  };
}

type Marks = Pick<MatrixView, 'masked' | 'changed' | 'edited' | 'secret'>;

function marksOf(
  { data, stage, secretRow, edits }: ViewRequest,
  name: MatrixName,
  rows: Window,
  columns: Window,
): Marks {
  const { before, now } = data;
  const hides = name === 'A' || (name === 'S' && stage === 'masked');
  const hidden: CellTest = (r, c) => at(before.masked, rows.from + r, columns.from + c) === Number.NEGATIVE_INFINITY;
  const which = stageOf(name, stage);
  const least = name === 'A' ? 0.005 : 0.05 * Math.min(1, boundOf(before[which]));
  const differs: CellTest = (r, c) => {
    const [is, was] = [now, before].map((numbers) => at(numbers[which], rows.from + r, columns.from + c));
    return Math.abs((is ?? 0) - (was ?? 0)) > least;
  };
  const set: CellTest = data.hooks
    ? editedBy(edits, data, name, stage, rows, columns)
    : (r, c) => at(now[which], rows.from + r, columns.from + c) !== at(before[which], rows.from + r, columns.from + c);
  return {
    masked: hides ? hidden : undefined,
    changed: now === before ? undefined : differs,
    edited: edits.length > 0 || (!data.hooks && 'QKV'.includes(name)) ? set : undefined,
    secret: name === 'A' && secretRow >= 0 ? (r, c) => rows.from + r === secretRow && !hidden(r, c) : undefined,
  };
}

/** The hook that an edit of a matrix changes, and its head. */
export function editedHook(
  { hooks }: HeadData,
  name: MatrixName,
  stage: Stage,
): { hook: string; head: number } | undefined {
  if (!hooks) return undefined;
  const { q, k, v, raw, scores, pattern, z, head, kvHead } = hooks;
  const all = { Q: q, K: k, V: v, A: pattern, Z: z, S: stage === 'masked' ? scores : raw };
  return { hook: all[name], head: name === 'K' || name === 'V' ? kvHead : head };
}

function editedBy(
  edits: readonly EditSpec[],
  data: HeadData,
  name: MatrixName,
  stage: Stage,
  rows: Window,
  columns: Window,
): CellTest {
  const place = editedHook(data, name, stage);
  const mine = edits.filter(({ hook, head }) => hook === place?.hook && head === place.head);
  const cells = new Set(mine.map(({ pos, index }) => `${pos}.${index}`));
  return (r, c) => cells.has(`${rows.from + r}.${columns.from + c}`);
}
