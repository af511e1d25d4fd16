// The benches of the laboratory: one render function each.

import {
  type ActivationPatching,
  type HookName,
  type PreTrainedModel,
  toJSON,
  toNpy,
  toSafetensors,
} from 'clearformer';
import { type Bar, type Cell, decimals, four } from 'clearformer/elements';
import '../../book/offline_state.js';
import { html, nothing, type TemplateResult } from 'lit';
import { download } from '../../book/download.js';
import type { EditSpec } from '../../book/edits.js';
import { instructionsOf } from '../../book/instructions.js';
import { filled } from '../../book/markup.js';
import { activation } from '../../book/shelf.js';
import type { Piece } from '../../book/token_texts.js';
import { within } from '../../book/within.js';
import { editForm, isHook, valid } from './edit_form.js';
import type { FigureLaboratory } from './figure.js';
import type { Answer, Subject } from './subject.js';
import type { Result, View } from './views.js';

type Bench<V extends View> = (figure: FigureLaboratory, result: Extract<Result, { view: V }>) => TemplateResult;

export const benches: { readonly [V in View]: Bench<V> } = {
  hook: hookBench,
  edit: editBench,
  lens: lensBench,
  attribution: attributionBench,
  ablation: ablationBench,
  patching: patchingBench,
  detect: detectBench,
  compare: compareBench,
  export: exportBench,
};

const labelsOf = (pieces: readonly Piece[]): string[] => pieces.map(({ label }) => label);
const numbered = (letter: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${letter}${i}`);

/** Two answers to compare. */
function answers(figure: FigureLaboratory, { answers: all, right, wrong }: Subject): TemplateResult {
  const { labels } = figure.words;
  const choice = (key: 'r' | 'w', chosen: Answer, label: string): TemplateResult => html`<label class="row">${label}
    <select aria-label=${label} @change=${(event: Event) => figure.choose({ [key]: (event.target as HTMLSelectElement).value })}>
      ${[...new Map([...all, chosen].map((each) => [each.id, each])).values()].map((each) => html`<option value=${each.id} .selected=${each.id === chosen.id}>${each.label}</option>`)}
    </select></label>`;
  return html`<div class="row">${choice('r', right, labels.right)}${choice('w', wrong, labels.wrong)}</div>`;
}

type Hooked = Pick<Extract<Result, { view: 'hook' }>, 'tensor' | 'axes'>;

/** The axis of the heads and how many there are; −1 and 0 for none. */
function headsOf({ tensor, axes }: Hooked): readonly [axis: number, count: number] {
  const axis = axes.findIndex((name) => name === 'head' || name === 'key_value_head');
  return [axis, axis < 0 ? 0 : (tensor.dims[axis] ?? 0)];
}

/** The head of a hook that has heads. */
export function shownHead(figure: FigureLaboratory, hooked: Hooked): number | undefined {
  const [, heads] = headsOf(hooked);
  return heads > 0 ? within(figure.number('h'), heads) : undefined;
}

function hookBench(
  figure: FigureLaboratory,
  { subject, hook, tensor, axes, edited }: Extract<Result, { view: 'hook' }>,
): TemplateResult {
  const { labels } = figure.words;
  const [head, heads] = headsOf({ tensor, axes });
  const chosen = within(figure.number('h'), heads);
  const index = tensor.dims.map((_, axis) => (axis === 0 ? 0 : axis === head ? chosen : null));
  const matrix = tensor.slice(...index);
  const numbers =
    matrix.dims.length > 2
      ? { dims: [matrix.dims[0] ?? 0, matrix.size / (matrix.dims[0] ?? 1)], data: matrix.data }
      : matrix;
  const source = `${hook}[${index.map((at) => at ?? ':').join(', ')}]`;
  const square = axes.at(-1) === 'key_pos';
  const rows = hook.startsWith('decoder') ? subject.written : subject.tokens;
  const keys = hook.includes('cross_attn') ? subject.tokens : rows;
  const isPattern = hook.endsWith('hook_pattern');
  return html`${hookField(figure, subject.model, hook)}
    ${heads > 1 ? html`<div class="seg" role="group" aria-label=${labels.head}><span>${labels.head}</span>${Array.from({ length: heads }, (_, i) => html`<button type="button" aria-pressed=${i === chosen} @click=${() => figure.choose({ h: String(i) })}>${i}</button>`)}</div>` : nothing}
    <div class="scroll sideways"><cf-matrix source=${source} .numbers=${numbers} label=${isPattern ? 'A' : ''} about=${source}
      scale=${isPattern ? 'weights' : 'signed'} .rowLabels=${labelsOf(rows)} .columnLabels=${square ? labelsOf(keys) : []}
      editable @cell-edit=${(event: CustomEvent<Cell & { value: number }>) => editCell(figure, hook, head < 0 ? undefined : chosen, event.detail)}></cf-matrix></div>
    <p class="verdict">${labels.editable}${edited ? html` <b>${labels.edited}</b>` : nothing}</p>`;
}

function editCell(
  figure: FigureLaboratory,
  hook: string,
  head: number | undefined,
  { row, column, value }: Cell & { value: number },
): void {
  const spec: EditSpec = { hook, pos: row, index: column, op: 'set', value, ...(head !== undefined && { head }) };
  figure.book.addEdit(spec);
}

function hookField(figure: FigureLaboratory, model: PreTrainedModel, hook: string): TemplateResult {
  const { labels } = figure.words;
  const choose = ({ target }: Event): void => {
    const field = target as HTMLInputElement;
    if (isHook(field, model, labels.noHook)) figure.choose({ hook: field.value.trim() });
  };
  return html`<label class="row">${labels.hookName}<input class="wide" type="text" list="hooks" .value=${hook} @change=${choose} @input=${valid} /></label>
    <datalist id="hooks">${model.hooks().map(({ name, dims }) => html`<option value=${name}>[${dims.join(', ')}]</option>`)}</datalist>`;
}

function editBench(figure: FigureLaboratory, { subject, effect }: Extract<Result, { view: 'edit' }>): TemplateResult {
  const { labels } = figure.words;
  const { book } = figure;
  const specs = book.editSpecs;
  const bars = (odds: readonly number[]): Bar[] =>
    effect.before.slice(0, figure.inClass ? 6 : undefined).map(({ label }, i) => ({ label, value: odds[i] ?? 0 }));
  const [plain, edited] = effect.writes;
  return html`${editForm(figure, subject.model)}
    <ul class="list" aria-label=${labels.edits}>${specs.map(
      (spec, i) => html`<li><code>${describe(spec)}</code>
      <button type="button" class="plain" aria-label="${labels.remove}: ${describe(spec)}" @click=${() => book.setEdits(specs.filter((_, other) => other !== i))}>${labels.remove}</button></li>`,
    )}</ul>
    ${specs.length === 0 ? html`<p class="verdict">${labels.noEdits}</p>` : nothing}
    <div class="two"><div><h3>${labels.asItIs}</h3><cf-bars readonly label=${labels.asItIs} max="1" source="softmax(logits[0, -1])" .items=${bars(effect.before.map(({ probability }) => probability))}></cf-bars></div>
      <div><h3>${labels.withEdits}</h3><cf-bars readonly label=${labels.withEdits} max="1" source="softmax(run_with_hooks(inputs, { edits })[0, -1])" .items=${bars(effect.after)}></cf-bars></div></div>
    ${plain === '' ? nothing : html`<h3>${labels.writes}</h3><p class="written" lang=${book.textLanguage}>${plain}</p><p class="written ${edited === plain ? '' : 'changed'}" lang=${book.textLanguage}>${edited}</p>`}`;
}

/** An edit as one line: its hook, its slice, its operation. */
function describe({ hook, head, pos, index, op, value }: EditSpec): string {
  const part = [
    head !== undefined && `head ${head}`,
    pos !== undefined && `pos ${pos}`,
    index !== undefined && `[${index}]`,
  ];
  return [hook, ...part.filter(Boolean), op, ...(value === undefined ? [] : [String(value)])].join(' ');
}

function lensBench(figure: FigureLaboratory, { subject, layers }: Extract<Result, { view: 'lens' }>): TemplateResult {
  const { labels } = figure.words;
  const cells = layers.map((row) => row.map(({ piece, probability }) => ({ token: piece.label, probability })));
  const rows = layers.map((_, layer) => (layer === 0 ? (labels.input ?? '') : `${labels.block} ${layer}`));
  const columns = subject.written.length > 0 ? subject.written : subject.tokens;
  const point = (event: CustomEvent<{ layer: number; position: number } | null>): void => {
    const place = event.detail;
    const guess = place && layers[place.layer]?.[place.position];
    if (guess) figure.say(`${guess.piece.label}: ${four(guess.probability)}`);
  };
  return html`<div class="scroll sideways"><cf-lens source="max(softmax(logitLens(model, inputs)))" .cells=${cells} .rowLabels=${rows} .labels=${labelsOf(columns)} @lens-point=${point}></cf-lens></div>`;
}

function attributionBench(
  figure: FigureLaboratory,
  { subject, attribution }: Extract<Result, { view: 'attribution' }>,
): TemplateResult {
  const { labels } = figure.words;
  const all = attribution.labels.map((label, i) => ({ label, value: attribution.contributions.data[i] ?? 0 }));
  const strongest = all.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, figure.inClass ? 12 : 16);
  const sum = all.reduce((total, { value }) => total + value, 0);
  return html`${answers(figure, subject)}
    <cf-bars readonly format="number" label=${labels.attribution} source="logitAttribution(model, inputs, { tokens: ${subject.right.id}, incorrect_tokens: ${subject.wrong.id} })" .items=${strongest}></cf-bars>
    <p class="verdict">${filled(labels.sums ?? '', { parts: all.length, sum: decimals(sum, 4), logit: four(attribution.logits.data[0] ?? 0) })}</p>`;
}

function ablationBench(
  figure: FigureLaboratory,
  { subject, ablation }: Extract<Result, { view: 'ablation' }>,
): TemplateResult {
  const { labels } = figure.words;
  const [layers = 0, heads = 0] = ablation.changes.dims;
  return html`${answers(figure, subject)}
    <cf-matrix source="ablateHeads(model, inputs, { metric }).changes" .numbers=${ablation.changes} label="Δ" about=${labels.ablationAbout} digits="2"
      .rowLabels=${numbered('L', layers)} .columnLabels=${numbered('H', heads)} .secret=${figure.revealed ? undefined : () => true}
      @cell-select=${(event: CustomEvent<Cell>) => figure.book.addEdit({ hook: `blocks.${event.detail.row}.attn.hook_z`, head: event.detail.column, op: 'zero' })}></cf-matrix>
    <p class="verdict">${filled(labels.baseline ?? '', { value: four(ablation.baseline) })}</p>`;
}

function patchingBench(
  figure: FigureLaboratory,
  { subject, patching, other }: Extract<Result, { view: 'patching' }>,
): TemplateResult {
  const { labels } = figure.words;
  const { by } = figure.request;
  const change = (event: Event): void => figure.choose({ t2: (event.target as HTMLInputElement).value });
  const lengths = { n: other.length, of: subject.tokens.length };
  return html`${answers(figure, subject)}
    <label class="row">${labels.other}<input class="wide" type="text" .value=${figure.request.other} @change=${change} /></label>
    <div class="seg" role="group" aria-label=${labels.by}>${(['position', 'head', 'layer'] as const).map((way) => html`<button type="button" aria-pressed=${way === by} @click=${() => figure.choose({ by: way })}>${labels[way]}</button>`)}</div>
    ${patching ? patched(figure, subject, patching, other) : html`<p class="verdict" role="status">${filled(labels.patchingLengths ?? '', lengths)}</p>`}`;
}

function patched(
  figure: FigureLaboratory,
  subject: Subject,
  { patched: numbers, clean, corrupted }: ActivationPatching,
  other: readonly Piece[],
): TemplateResult {
  const { labels } = figure.words;
  const { by } = figure.request;
  const [layers = 0, extent = 1] = numbers.dims;
  const places = subject.written.length > 0 ? subject.written : subject.tokens;
  const columns = by === 'position' ? labelsOf(places) : by === 'head' ? numbered('H', extent) : [];
  return html`<div class="scroll sideways"><cf-matrix source="patchActivations(model, { clean, corrupted, metric, by: '${by}' }).patched" .numbers=${numbers.dims.length === 1 ? { dims: [layers, 1], data: numbers.data } : numbers}
      label="P" about=${labels.patchingAbout} digits="1" .rowLabels=${numbered('L', layers)} .columnLabels=${columns}></cf-matrix></div>
    <p class="verdict">${filled(labels.patchingNote ?? '', { clean: four(clean), corrupted: four(corrupted), text: other.map(({ label }) => label).join(' ') })}</p>`;
}

function detectBench(figure: FigureLaboratory, { detected }: Extract<Result, { view: 'detect' }>): TemplateResult {
  const { labels } = figure.words;
  const kinds = ['previous_token', 'first_token', 'duplicate_token', 'induction'] as const;
  return html`<div class="two">${kinds.map((kind) => {
    const scores = detected.scores[kind];
    const [layers = 0, heads = 0] = scores.dims;
    return html`<div><h3>${labels[kind]}</h3><cf-matrix source="detectHeads(model).scores.${kind}" .numbers=${scores} scale="weights" about=${kind}
        .rowLabels=${numbered('L', layers)} .columnLabels=${numbered('H', heads)}
        @cell-select=${(event: CustomEvent<Cell>) => figure.book.address.go('head', { l: String(event.detail.row), h: String(event.detail.column) })}></cf-matrix></div>`;
  })}</div>
    <p class="verdict">${filled(labels.detectNote ?? '', { heads: detected.heads.map(({ layer, head }) => `L${layer}H${head}`).join(', ') || '0' })}</p>`;
}

function compareBench(
  figure: FigureLaboratory,
  { subject, comparison }: Extract<Result, { view: 'compare' }>,
): TemplateResult {
  const { labels } = figure.words;
  const { here, dtype, differences, answers: rows } = comparison;
  const numbers = { dims: [1, differences.length], data: differences };
  const columns = subject.written.length > 0 ? subject.written : subject.tokens;
  const bars = (of: 'here' | 'there'): Bar[] => rows.map((row) => ({ label: row.piece.label, value: row[of] }));
  return html`<div class="seg" role="group" aria-label=${labels.dtype}>${(['fp16', 'q8', 'q4'] as const).map((each) => html`<button type="button" aria-pressed=${each === dtype} @click=${() => figure.choose({ dt: each })}>${each}</button>`)}</div>
    <div class="two"><div><h3>${here}</h3><cf-bars readonly label=${here} max="1" source="softmax(logits[0, -1])" .items=${bars('here')}></cf-bars></div>
      <div><h3>${dtype}</h3><cf-bars readonly label=${dtype} max="1" source="softmax(logits[0, -1]) with dtype: '${dtype}'" .items=${bars('there')}></cf-bars></div></div>
    <h3>${labels.differences}</h3>
    <div class="scroll sideways"><cf-matrix source="max |logits − logits with dtype: '${dtype}'|" .numbers=${numbers} digits="2" about=${labels.differences} .rowLabels=${[dtype]} .columnLabels=${labelsOf(columns)}></cf-matrix></div>
    <p class="verdict">${labels.compareNote}</p>`;
}

function exportBench(figure: FigureLaboratory, { subject, hook }: Extract<Result, { view: 'export' }>): TemplateResult {
  const { labels } = figure.words;
  const info = subject.model.info();
  const facts = {
    version: info.version,
    simd: instructionsOf(info),
    threads: info.threads.used,
    wasm: `${info.wasmBytes} B`,
    heap: `${info.heapBytes} B`,
  };
  return html`<h3>${labels.exportAll}</h3>
    <div class="row">${(['safetensors', 'json', 'npy'] as const).map((format) => html`<button type="button" class="chip" @click=${() => void save(figure, subject, hook, format)}>${labels[format]}</button>`)}</div>
    <p class="verdict">${filled(labels.exportNote ?? '', { hooks: subject.model.hooks().length, hook })}</p>
    <h3>${labels.facts}</h3><p class="verdict">${filled(labels.factsLine ?? '', facts)} (<span lang="en">${info.threads.reason}</span>). ${labels.offline} <offline-state .labels=${labels}></offline-state></p>`;
}

/** Saves the pass's activation cache, with the edits in effect, as a file. */
async function save(
  figure: FigureLaboratory,
  { inputs }: Subject,
  hook: string,
  format: 'safetensors' | 'json' | 'npy',
): Promise<void> {
  const { book } = figure;
  const { now } = await book.passes(inputs, format === 'npy' ? [hook] : ['*']);
  const blob = new Blob([bytesOf()]);
  const file = format === 'npy' ? `${hook}.npy` : `cache.${format}`;
  download(file, blob);
  figure.say(`${file}, ${blob.size} B`);

  function bytesOf(): BlobPart {
    if (format === 'npy') return toNpy(activation(now, hook as HookName)) as BlobPart;
    if (format === 'safetensors') return toSafetensors(now.cache) as BlobPart;
    const entries = Object.entries(now.cache).map(([name, tensor]) => `${JSON.stringify(name)}: ${toJSON(tensor)}`);
    return `{\n${entries.join(',\n')}\n}\n`;
  }
}
