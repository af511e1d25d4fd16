// The stage below the picture for each view of chapter 11.

import { four, type Numbers, percent, two } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { filled } from '../../book/markup.js';
import { theme } from '../../book/theme.js';
import { vars } from '../../book/vars.js';
import { partOf, partText, rangeOf, type Window, windowAround } from '../../book/window.js';
import { within } from '../../book/within.js';
import type { FigureSeeing, View } from './figure.js';
import { cornerOf, type Geometry, pixelAt } from './geometry.js';
import { sampleCount, samplesUrl } from './pixels.js';
import { overPlaces, type Positions, type Seen } from './reading.js';
import '../../book/tile_grid.js';

type Stage = (figure: FigureSeeing, seen: Seen) => TemplateResult;

export const stageOf: Stage = (figure, seen) => stages[figure.view](figure, seen);

/** Weights over the patches, drawn on the picture, with their source expression. */
interface Attended {
  readonly numbers: { dims: number[]; data: Float32Array };
  readonly source: string;
  /** The weight of a dot as large as a patch. */
  readonly most: number;
}

/** The query token: the class token or the chosen patch. */
const looking = (figure: FigureSeeing, { special }: Seen): number =>
  figure.value('who') === 'patch' ? figure.place + special : 0;

/** The chosen block and head, clamped to the model's. */
export function chosenHead(figure: FigureSeeing, { patterns }: Seen): { layer: number; head: number } {
  const heads = patterns[0]?.dims[0] ?? 1;
  return { layer: within(figure.number('l'), patterns.length), head: within(figure.number('h'), heads) };
}

function ofHead(seen: Seen, { layer, head }: { layer: number; head: number }, token: number): Attended {
  const numbers = overPlaces(seen, seen.patterns[layer]?.slice(head, token) as Seen['embed']);
  return {
    numbers,
    source: `blocks.${layer}.attn.hook_pattern[0, ${head}, ${token}, ${seen.special}:]`,
    most: Math.max(...numbers.data),
  };
}

function rolled(seen: Seen, layer: number): Attended {
  const numbers = overPlaces(seen, seen.rollout().slice(layer, 0, 0));
  return {
    numbers,
    source: `attentionRollout(cache)[${layer}, 0, 0, ${seen.special}:]`,
    most: Math.max(...numbers.data),
  };
}

export function attended(figure: FigureSeeing, seen: Seen): Attended {
  if (figure.view === 'rollout') return rolled(seen, seen.patterns.length - 1);
  return ofHead(seen, chosenHead(figure, seen), looking(figure, seen));
}

const picture: Stage = (figure) => {
  const { labels } = figure.words;
  const chosen = figure.value('d');
  const samples = Array.from({ length: sampleCount }, (_, i) => {
    const place = { '--url': `url("${samplesUrl()}")`, '--x': `${(100 * i) / (sampleCount - 1)}%` };
    const pressed = chosen === `s${i}` ? 'true' : 'false';
    return html`<button type="button" aria-label="${labels.sample} ${i}" aria-pressed=${pressed} ${vars(place)} @click=${() => figure.takeSample(i)}></button>`;
  });
  return html`<div class="row">
      <div class="samples ${theme.current}" role="group" aria-label=${labels.samples}>${samples}</div>
      <label class="chip file">${labels.orFile}<input type="file" class="sr-only" accept="image/*" @change=${(event: Event) => void figure.readFile((event.target as HTMLInputElement).files?.[0])} /></label>
    </div>
    ${figure.refused ? html`<p class="verdict" role="alert">${filled(labels.noPicture, { name: figure.refused })}</p>` : nothing}
    <p class="note">${filled(labels.asMnist, figure.values)}</p>`;
};

/** The numbers of a patch, [patch, channels · patch], channels side by side. */
function patchAt({ pixels, shape }: Seen, place: number): { dims: number[]; data: Float32Array } {
  const { patch, channels, numbers } = shape;
  const data = Float32Array.from({ length: numbers }, (_, k) => pixels.data[pixelAt(shape, place, k)] ?? 0);
  return { dims: [patch, channels * patch], data };
}

/** The patch as the library has it: [patch, patch], or [3, patch, patch] in colour. */
function patchIn(shape: Geometry, place: number): string {
  const [row, column] = cornerOf(shape, place);
  const channel = shape.channels === 1 ? '0' : ':';
  return `pixel_values[0, ${channel}, ${row}:${row + shape.patch}, ${column}:${column + shape.patch}]`;
}

function patchSource(shape: Geometry, place: number): string {
  const { patch, channels } = shape;
  const own = patchIn(shape, place);
  return channels === 1 ? own : `${own}.permute(1, 0, 2).reshape(${patch}, ${channels * patch})`;
}

/** The numbers of a patch that are shown in a row. */
const inRow = 16;

/** The beginning of a patch in a row, as the projection reads it: one channel after the other. */
function patchRow({ pixels, shape }: Seen, place: number): { numbers: Numbers; source: string } {
  const { side, patch, numbers } = shape;
  const [top, left] = cornerOf(shape, place);
  const count = Math.min(inRow, numbers);
  const at = (k: number): number => {
    const [channel, row] = [Math.floor(k / (patch * patch)), Math.floor(k / patch) % patch];
    return channel * side * side + (top + row) * side + left + (k % patch);
  };
  const data = Float32Array.from({ length: count }, (_, k) => pixels.data[at(k)] ?? 0);
  const source = `${patchIn(shape, place)}.reshape(${numbers})`;
  return { numbers: { dims: [1, count], data }, source: count < numbers ? `${source}[:${count}]` : source };
}

/** A cell's side, `size` for `usual` cells: more cells are smaller, and take `room` times as much space at most. */
const fitted = (size: number, count: number, usual: number, room = 1.6): number =>
  Math.min(size, (room * size * usual) / count);

/** The cells of a patch. */
function cellsOf({ patch, channels }: Geometry, width: number, height: number): { width: number; height: number } {
  return { width: fitted(width, channels * patch, 4), height: fitted(height, patch, 4) };
}

/** The magnitude of a pixel value with the full colour. */
const pixelBound = ({ black, white }: Seen): number => largestOf([...black, ...white]);

const patches: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const { shape } = seen;
  const large = figure.inClass;
  const bound = pixelBound(seen);
  const cell = cellsOf(shape, large ? figure.wall(80) : 38, large ? figure.wall(40) : 30);
  const row = patchRow(seen, place);
  const room = (figure.width - ((large ? figure.wall(396) : 0) + 20)) / row.numbers.data.length; // beside the picture, between brackets
  return html`<div class="row">
      <cf-matrix .numbers=${patchAt(seen, place)} source=${patchSource(shape, place)} label="x" about=${figure.placeName(place)} hue="stream" .bound=${bound} digits="2" .cellWidth=${cell.width} .cellHeight=${cell.height}></cf-matrix>
      <span class="sign">→</span>
      <cf-matrix .numbers=${row.numbers} source=${row.source} label="x" about=${shape.numbers > inRow ? filled(labels.rowBegins, { n: shape.numbers }) : labels.inARow} hue="stream" .bound=${bound} digits="1" .cellWidth=${Math.min(large ? figure.wall(58.5) : 24, room)} .cellHeight=${large ? figure.wall(40) : 30}></cf-matrix>
    </div>
    <p class="note">${filled(labels.patchNote, { n: shape.places, numbers: shape.numbers })}</p>`;
};

/** The kernels shown at once. */
const mostKernels = 96;

const kernels: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const { shape, special, embed } = seen;
  const { weight, bias } = seen.kernels;
  const large = figure.inClass;
  const of = bias.data.length;
  const kernel = within(figure.number('k'), of);
  const from = Math.floor(kernel / mostKernels) * mostKernels;
  const to = Math.min(of, from + mostKernels);
  const own = weight.slice(kernel, 0);
  const x = patchAt(seen, place);
  const embedded = (at: number): number => embed.data[(at + special) * of + kernel] ?? 0;
  const map = Float32Array.from({ length: shape.places }, (_, at) => embedded(at));
  const cells = cellsOf(shape, large ? figure.wall(60) : 31, large ? figure.wall(32) : 23);
  const ownCells = cellsOf(shape, large ? figure.wall(60) : 36, large ? figure.wall(32) : 23);
  const turn = (label: string, to: number, mark: string): TemplateResult =>
    html`<button type="button" class="chip" aria-label=${label} ?disabled=${to < 0 || to >= of} @click=${() => figure.choose({ k: String(to) })}>${mark}</button>`;
  return html`<div class="beside">
      <div>
        <tile-grid .numbers=${to - from < of ? weight.slice([from, to]) : weight} source=${`hook_embed of single pixels${to - from < of ? `[${from}:${to}]` : ''}`} label=${labels.kernels} across=${shape.channels > 1 ? 8 : figure.width < 480 ? 12 : 16} .chosen=${kernel - from} .bound=${largestOf(weight.data)}
          .tileName=${(tile: number) => `${labels.kernel} ${from + tile + 1}`} @tile-select=${(event: CustomEvent<{ tile: number }>) => figure.choose({ k: String(from + event.detail.tile) })}></tile-grid>
        ${of > mostKernels ? html`<p class="line turning">${turn(labels.before, from - mostKernels, '←')}${filled(labels.kernelsOf, { from: from + 1, to, of })}${turn(labels.after, from + mostKernels, '→')}</p>` : nothing}
      </div>
      <cf-matrix .numbers=${{ dims: [shape.grid, shape.grid], data: map }} source="hook_embed[0, ${special}:, ${kernel}]" label="E" about=${filled(labels.everywhere, { kernel: kernel + 1 })} hue="stream" .cellWidth=${fitted(large ? figure.wall(54) : 26, shape.grid, 7, large ? figure.wall(1) : 1.2)} .cellHeight=${fitted(large ? figure.wall(30) : 20, shape.grid, 7, large ? figure.wall(1) : 1.2)} .selected=${{ row: Math.floor(place / shape.grid), column: place % shape.grid }}
        @cell-select=${(event: CustomEvent<{ row: number; column: number }>) => figure.choose({ p: String(event.detail.row * shape.grid + event.detail.column) })}></cf-matrix>
    </div>
    <div class="row">
      <cf-matrix .numbers=${x} source=${patchSource(shape, place)} label="x" about=${filled(labels.patchShort, { n: place + 1 })} hue="stream" .bound=${pixelBound(seen)} digits="1" .cellWidth=${cells.width} .cellHeight=${cells.height}></cf-matrix>
      <span class="sign">·</span>
      <cf-matrix .numbers=${own} source="hook_embed of single pixels [${kernel}]" label="w" about="${labels.kernel} ${kernel + 1}" hue="k" .cellWidth=${ownCells.width} .cellHeight=${ownCells.height}></cf-matrix>
      <p class="readout">${filled(labels.products, { n: shape.numbers })} ${two(sumOf(x.data, own.data))} + ${labels.bias} ${two(bias.data[kernel] ?? 0)} = <b>${four(embedded(place))}</b></p>
    </div>`;
};

/** The dot product, for the read-out. */
const sumOf = (one: ArrayLike<number>, other: ArrayLike<number>): number =>
  Array.from(one, (value, i) => value * (other[i] ?? 0)).reduce((sum, value) => sum + value, 0);

const largestOf = (data: ArrayLike<number>): number =>
  Array.from(data).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** The rows and columns of the vectors shown at once. */
const [mostRows, mostColumns] = [50, 96];

const positions: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const token = place + seen.special;
  const [tokens = 1, width = 1] = seen.embed.dims;
  const rows = windowAround(token, tokens, mostRows);
  const columns = windowAround(0, width, mostColumns);
  const part = [rangeOf(rows), rangeOf(columns)] as const;
  const whole = rows.count === tokens && columns.count === width;
  const at = whole ? '' : `, ${partText(partOf(rows))}, ${partText(partOf(columns))}`;
  const parts = [
    { vectors: seen.embed, source: 'hook_embed', label: 'E', about: labels.patchVectors },
    { vectors: seen.positions, source: 'hook_pos_embed', label: 'P', about: labels.learned },
    { vectors: seen.full, source: 'hook_full_embed', label: 'X', about: labels.input },
  ];
  const first = ({ data }: Seen['embed']): string => two(data[token * width] ?? 0);
  const cellWidth = figure.inClass ? 0 : Math.max(0, (figure.width / 3 - 33) / columns.count); // 33: brackets, gaps and signs
  const bound = largestOf(seen.positions.data);
  const select = (event: CustomEvent<{ row: number }>): void => {
    const chosen = event.detail.row + rows.from - seen.special;
    if (chosen >= 0) figure.choose({ p: String(chosen) });
  };
  return html`<div class="three">${parts.map(
    ({ vectors, source, label, about }, i) =>
      html`${i === 0 ? nothing : html`<span class="sign">${i === 1 ? '+' : '='}</span>`}<cf-matrix .numbers=${whole ? vectors : vectors.slice(...part)} source="${source}[0${at}]" label=${label} about=${about} hue="stream" .bound=${bound} .rails=${{ rows: [token - rows.from] }} .cellWidth=${cellWidth} .cellHeight=${figure.inClass ? figure.wall(8) : 5} @cell-select=${select}></cf-matrix>`,
  )}</div>
    <p class="readout">${figure.placeName(place)}, ${labels.firstNumber}: ${first(seen.embed)} + ${first(seen.positions)} = <b>${first(seen.full)}</b></p>
    <p class="note">${seen.special === 1 ? labels.clsNote : labels.clsNoteTwo} ${filled(labels.widthNote, { d: width })}${whole ? nothing : ` ${filled(labels.partNote, { from: rows.from + 1, to: rows.from + rows.count, rows: tokens, columns: columns.count })}`}</p>`;
};

const similar: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const { places, grid } = seen.shape;
  const numbers = { dims: [places, grid, grid], data: seen.likeness.data };
  const own = { dims: [grid, grid], data: seen.likeness.slice(place).data };
  return html`<div class="beside">
      <tile-grid class="square-tiles" .numbers=${numbers} source="matmul(p, pᵀ), p = rms_norm(hook_pos_embed[0, ${seen.special}:])" label=${labels.similarities} .across=${grid} bound="1" .chosen=${place}
        .tileName=${figure.placeName} @tile-select=${(event: CustomEvent<{ tile: number }>) => figure.choose({ p: String(event.detail.tile) })}></tile-grid>
      <cf-matrix .numbers=${own} source="matmul(p, pᵀ)[${place}]" label="cos" about=${filled(labels.likePlace, { n: place + 1 })} hue="stream" bound="1" .digits=${figure.inClass || grid > 7 ? 'auto' : 2} .cellWidth=${figure.inClass ? fitted(figure.wall(58), grid, 7, 1) : 0} .cellHeight=${fitted(figure.inClass ? figure.wall(40) : 27, grid, 7, figure.inClass ? 1 : 1.1)} .selected=${{ row: Math.floor(place / grid), column: place % grid }}></cf-matrix>
    </div>
    <p class="note">${filled(labels.similarNote, { n: places })}</p>`;
};

/** The blocks and heads shown at once. */
const [mostBlocks, mostHeads] = [4, 6];

const heads: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const chosen = chosenHead(figure, seen);
  const token = looking(figure, seen);
  const shown = ofHead(seen, chosen, token);
  const off = (layer: number, head: number): boolean =>
    figure.book.editSpecs.some(
      ({ hook, head: edited, op }) => hook === `blocks.${layer}.attn.hook_z` && edited === head && op === 'zero',
    );
  const [layers, count] = [seen.patterns.length, seen.patterns[0]?.dims[0] ?? 0];
  const rows = indices(windowAround(chosen.layer, layers, mostBlocks));
  const columns = indices(windowAround(chosen.head, count, mostHeads));
  const top = shown.numbers.data.indexOf(shown.most);
  return html`<div class="beside">
      <div class="heads" role="group" aria-label=${labels.allHeads} ${vars({ '--heads': columns.length })}>
        <span></span>${columns.map((head) => html`<span class="head">${labels.head} ${head + 1}</span>`)}
        ${rows.map(
          (layer) =>
            html`<span>${labels.block} ${layer + 1}</span>${columns.map((head) => {
              const one = ofHead(seen, { layer, head }, token);
              const pressed = layer === chosen.layer && head === chosen.head;
              return html`<button type="button" class=${off(layer, head) ? 'off' : ''} aria-pressed=${pressed ? 'true' : 'false'} aria-label="${labels.block} ${layer + 1}, ${labels.head} ${head + 1}"
            @click=${() => figure.choose({ l: String(layer), h: String(head) })}><patch-dots framed .numbers=${one.numbers} source=${one.source} .most=${one.most}></patch-dots></button>`;
            })}`,
        )}
      </div>
      <div class="controls">
        <div class="seg" role="group" aria-label=${labels.whoLooks}>${seg(figure, 'who', [
          ['cls', labels.classToken],
          ['patch', filled(labels.patchShort, { n: figure.place + 1 })],
        ])}</div>
        ${layers > mostBlocks ? list(figure, 'l', labels.block, layers, chosen.layer) : nothing}
        ${count > mostHeads ? list(figure, 'h', labels.head, count, chosen.head) : nothing}
        <p class="readout">${filled(labels.headReads, { block: chosen.layer + 1, head: chosen.head + 1 })} ${figure.placeName(top)}: <b>${percent(shown.most)}</b></p>
        <label class="switch"><input type="checkbox" .checked=${live(off(chosen.layer, chosen.head))} @change=${() => silence(figure, chosen)} />${labels.silence}</label>
        ${figure.book.editSpecs.length > 0 ? html`<button type="button" class="plain" @click=${() => figure.book.setEdits([])}>${labels.allOn}</button>` : nothing}
        <p class="note">${labels.ownScale}</p>
      </div>
    </div>`;
};

const indices = ({ from, count }: Window): number[] => Array.from({ length: count }, (_, i) => from + i);

/** A choice of one of many blocks or heads. */
function list(figure: FigureSeeing, key: string, label: string, count: number, chosen: number): TemplateResult {
  return html`<label class="line">${label}<select @change=${(event: Event) => figure.choose({ [key]: (event.target as HTMLSelectElement).value })}>${Array.from(
    { length: count },
    (_, i) => html`<option value=${i} .selected=${i === chosen}>${i + 1}</option>`,
  )}</select></label>`;
}

/** Ablates a head, or restores it. */
function silence({ book }: FigureSeeing, { layer, head }: { layer: number; head: number }): void {
  const hook = `blocks.${layer}.attn.hook_z`;
  const others = book.editSpecs.filter((spec) => spec.hook !== hook || spec.head !== head);
  if (others.length < book.editSpecs.length) book.setEdits(others);
  else book.addEdit({ hook, head, op: 'zero' });
}

function seg(figure: FigureSeeing, key: string, options: readonly (readonly [string, string])[]): TemplateResult[] {
  return options.map(
    ([value, label]) =>
      html`<button type="button" aria-pressed=${figure.value(key) === value ? 'true' : 'false'} @click=${() => figure.choose({ [key]: value })}>${label}</button>`,
  );
}

/** The blocks of which the rollout is shown, evenly spread, the last of them among them. */
const mostRollouts = 4;

const rollout: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const layers = seen.patterns.length;
  const shown = Math.min(mostRollouts, layers);
  const blocks = Array.from({ length: shown }, (_, i) => Math.round(((i + 1) * layers) / shown) - 1);
  const all = blocks.map((layer) => ({ layer, ...rolled(seen, layer) }));
  const most = Math.max(...all.map((one) => one.most));
  const last = all.at(-1);
  return html`<div class="rollouts">${all.map(
    ({ layer, numbers, source }) =>
      html`<div><p>${filled(labels.upTo, { block: layer + 1 })}</p><patch-dots framed .numbers=${numbers} source=${source} .most=${most}></patch-dots></div>`,
  )}</div>
    <p class="readout">${filled(labels.rolloutScale, { most: percent(last?.most ?? 0), even: percent(1 / (seen.shape.places + seen.special)) })}</p>
    <p class="note">${labels.rolloutNote}</p>`;
};

const hide: Stage = (figure, seen) => {
  const { labels } = figure.words;
  return html`<div class="controls">
      <p class="readout">${filled(labels.hiddenCount, { n: seen.hidden.length, of: seen.shape.places })}</p>
      <div class="row">
        <button type="button" class="chip" ?disabled=${seen.hidden.length === 0} @click=${() => figure.choose({ hide: 'none' })}>${labels.showAll}</button>
      </div>
    </div>
    <p class="note">${filled(labels.hideNote, { n: seen.shape.numbers })}</p>`;
};

const order: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const modes: readonly (readonly [Positions, string])[] = [
    ['stay', labels.posStay],
    ['along', labels.posAlong],
    ['none', labels.posNone],
  ];
  return html`<div class="controls">
      <div class="row">
        <button type="button" class="chip" @click=${figure.shuffle}>${labels.shuffle}</button>
        <button type="button" class="chip" @click=${() => figure.choose({ order: 'none' })}>${labels.inOrder}</button>
      </div>
      <div class="seg" role="group" aria-label=${labels.positionsOf}><span>${labels.positionsOf}</span>${seg(figure, 'pos', modes)}</div>
      ${figure.revealed ? html`<p class="meter">${labels.difference} <b>${figure.values.difference}</b></p>` : nothing}
    </div>
    <p class="note">${seen.order.every((patch, at) => patch === at) ? labels.dragNote : labels.movedNote}</p>`;
};

const stages: Readonly<Record<View, Stage>> = {
  picture,
  patches,
  kernels,
  positions,
  similar,
  heads,
  rollout,
  hide,
  order,
};
