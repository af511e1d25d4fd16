// The stage below the picture for each view of chapter 11.

import { four, percent, two } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { theme } from '../../book/theme.js';
import { vars } from '../../book/vars.js';
import type { FigureSeeing, View } from './figure.js';
import { grid, patchPixels, patchSide, pixelAt, places, sampleCount, samplesUrl } from './pixels.js';
import { overPlaces, type Positions, type Seen } from './reading.js';
import './tile_grid.js';

type Stage = (figure: FigureSeeing, seen: Seen) => TemplateResult;

export const stageOf: Stage = (figure, seen) => (stages[figure.view] ?? stages.picture)(figure, seen);

/** Weights over the patches, drawn on the picture, with their source expression. */
interface Attended {
  readonly numbers: { dims: number[]; data: Float32Array };
  readonly source: string;
  /** The weight of a dot as large as a patch. */
  readonly most: number;
}

/** The query token: the class token or the chosen patch. */
const looking = (figure: FigureSeeing): number => (figure.value('who') === 'patch' ? figure.place + 1 : 0);

const clamp = (at: number, count: number): number => (Number.isInteger(at) ? Math.max(0, Math.min(count - 1, at)) : 0);

function chosenHead(figure: FigureSeeing, { patterns }: Seen): { layer: number; head: number } {
  const heads = patterns[0]?.dims[0] ?? 1;
  return { layer: clamp(figure.number('l'), patterns.length), head: clamp(figure.number('h'), heads) };
}

function ofHead({ patterns }: Seen, { layer, head }: { layer: number; head: number }, token: number): Attended {
  const numbers = overPlaces(patterns[layer]?.slice(head, token) as Seen['embed']);
  return {
    numbers,
    source: `blocks.${layer}.attn.hook_pattern[0, ${head}, ${token}, 1:]`,
    most: Math.max(...numbers.data),
  };
}

function rolled({ rollout }: Seen, layer: number): Attended {
  const numbers = overPlaces(rollout.slice(layer, 0, 0));
  return { numbers, source: `attentionRollout(cache)[${layer}, 0, 0, 1:]`, most: Math.max(...numbers.data) };
}

export function attended(figure: FigureSeeing, seen: Seen): Attended {
  if (figure.view === 'rollout') return rolled(seen, seen.patterns.length - 1);
  return ofHead(seen, chosenHead(figure, seen), looking(figure));
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
    <p class="note">${labels.asMnist}</p>`;
};

/** The pixels of a patch, [4, 4]. */
function patchAt({ pixels }: Seen, place: number): { dims: number[]; data: Float32Array } {
  const data = Float32Array.from({ length: patchPixels }, (_, k) => pixels.data[pixelAt(place, k)] ?? 0);
  return { dims: [patchSide, patchSide], data };
}

function patchSource(place: number): string {
  const [row, column] = [Math.floor(place / grid) * patchSide, (place % grid) * patchSide];
  return `pixel_values[0, 0, ${row}:${row + patchSide}, ${column}:${column + patchSide}]`;
}

const patches: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const numbers = patchAt(seen, place);
  return html`<div class="row">
      <cf-matrix .numbers=${numbers} source=${patchSource(place)} label="x" about=${figure.placeName(place)} hue="stream" bound="1" digits="2" .cellWidth=${figure.inClass ? 80 : 38} .cellHeight=${figure.inClass ? 40 : 30}></cf-matrix>
      <span class="sign">→</span>
      <cf-matrix .numbers=${{ dims: [1, patchPixels], data: numbers.data }} source="${patchSource(place)}.reshape(16)" label="x" about=${labels.inARow} hue="stream" bound="1" digits="1" .cellWidth=${figure.inClass ? 58.5 : 24} .cellHeight=${figure.inClass ? 40 : 30}></cf-matrix>
    </div>
    <p class="note">${filled(labels.patchNote, { n: places })}</p>`;
};

const kernels: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const { weight, bias } = seen.kernels;
  const kernel = clamp(figure.number('k'), bias.data.length);
  const own = weight.slice(kernel, 0);
  const x = patchAt(seen, place);
  const result = seen.embed.data[(place + 1) * bias.data.length + kernel] ?? 0;
  const map = Float32Array.from(
    { length: places },
    (_, at) => seen.embed.data[(at + 1) * bias.data.length + kernel] ?? 0,
  );
  return html`<div class="beside">
      <tile-grid .numbers=${weight} source="hook_embed of single pixels" label=${labels.kernels} across="16" .chosen=${kernel} .bound=${largestOf(weight.data)}
        .tileName=${(tile: number) => `${labels.kernel} ${tile + 1}`} @tile-select=${(event: CustomEvent<{ tile: number }>) => figure.choose({ k: String(event.detail.tile) })}></tile-grid>
      <cf-matrix .numbers=${{ dims: [grid, grid], data: map }} source="hook_embed[0, 1:, ${kernel}]" label="E" about=${filled(labels.everywhere, { kernel: kernel + 1 })} hue="stream" .cellWidth=${figure.inClass ? 54 : 26} .cellHeight=${figure.inClass ? 30 : 20} .selected=${{ row: Math.floor(place / grid), column: place % grid }}
        @cell-select=${(event: CustomEvent<{ row: number; column: number }>) => figure.choose({ p: String(event.detail.row * grid + event.detail.column) })}></cf-matrix>
    </div>
    <div class="row">
      <cf-matrix .numbers=${x} source=${patchSource(place)} label="x" about=${filled(labels.patchShort, { n: place + 1 })} hue="stream" bound="1" digits="1" .cellWidth=${figure.inClass ? 60 : 31} .cellHeight=${figure.inClass ? 32 : 23}></cf-matrix>
      <span class="sign">·</span>
      <cf-matrix .numbers=${own} source="hook_embed of single pixels [${kernel}]" label="w" about="${labels.kernel} ${kernel + 1}" hue="k" .cellWidth=${figure.inClass ? 60 : 36} .cellHeight=${figure.inClass ? 32 : 23}></cf-matrix>
      <p class="readout">${labels.products} ${two(sumOf(x.data, own.data))} + ${labels.bias} ${two(bias.data[kernel] ?? 0)} = <b>${four(result)}</b></p>
    </div>`;
};

/** The dot product, for the read-out. */
const sumOf = (one: ArrayLike<number>, other: ArrayLike<number>): number =>
  Array.from(one, (value, i) => value * (other[i] ?? 0)).reduce((sum, value) => sum + value, 0);

const largestOf = (data: ArrayLike<number>): number =>
  Array.from(data).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

const positions: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const token = place + 1;
  const parts = [
    { numbers: seen.embed, source: 'hook_embed[0]', label: 'E', about: labels.patchVectors },
    { numbers: seen.positions, source: 'hook_pos_embed[0]', label: 'P', about: labels.learned },
    { numbers: seen.full, source: 'hook_full_embed[0]', label: 'X', about: labels.input },
  ];
  const width = seen.embed.dims[1] ?? 1;
  const at = ({ data }: Seen['embed']): string => two(data[token * width] ?? 0);
  const bound = largestOf(seen.positions.data);
  const select = (event: CustomEvent<{ row: number }>): void => {
    if (event.detail.row > 0) figure.choose({ p: String(event.detail.row - 1) });
  };
  return html`<div class="three">${parts.map(
    ({ numbers, source, label, about }, i) =>
      html`${i === 0 ? nothing : html`<span class="sign">${i === 1 ? '+' : '='}</span>`}<cf-matrix .numbers=${numbers} source=${source} label=${label} about=${about} hue="stream" .bound=${bound} .rails=${{ rows: [token] }} .cellWidth=${figure.inClass ? 2.9 : 2.15} .cellHeight=${figure.inClass ? 8 : 5} @cell-select=${select}></cf-matrix>`,
  )}</div>
    <p class="readout">${figure.placeName(place)}, ${labels.firstNumber}: ${at(seen.embed)} + ${at(seen.positions)} = <b>${at(seen.full)}</b></p>
    <p class="note">${labels.clsNote}</p>`;
};

const similar: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const { place } = figure;
  const numbers = { dims: [places, grid, grid], data: seen.likeness.data };
  const own = { dims: [grid, grid], data: seen.likeness.slice(place).data };
  return html`<div class="beside">
      <tile-grid class="square-tiles" .numbers=${numbers} source="matmul(p, pᵀ), p = rms_norm(hook_pos_embed[0, 1:])" label=${labels.similarities} .across=${grid} bound="1" .chosen=${place}
        .tileName=${figure.placeName} @tile-select=${(event: CustomEvent<{ tile: number }>) => figure.choose({ p: String(event.detail.tile) })}></tile-grid>
      <cf-matrix .numbers=${own} source="matmul(p, pᵀ)[${place}]" label="cos" about=${filled(labels.likePlace, { n: place + 1 })} hue="stream" bound="1" .digits=${figure.inClass ? 'auto' : 2} .cellWidth=${figure.inClass ? 58 : 33} .cellHeight=${figure.inClass ? 40 : 27} .selected=${{ row: Math.floor(place / grid), column: place % grid }}></cf-matrix>
    </div>
    <p class="note">${labels.similarNote}</p>`;
};

const heads: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const chosen = chosenHead(figure, seen);
  const token = looking(figure);
  const shown = ofHead(seen, chosen, token);
  const off = (layer: number, head: number): boolean =>
    figure.book.editSpecs.some(
      ({ hook, head: edited, op }) => hook === `blocks.${layer}.attn.hook_z` && edited === head && op === 'zero',
    );
  const count = seen.patterns[0]?.dims[0] ?? 0;
  const top = shown.numbers.data.indexOf(shown.most);
  return html`<div class="beside">
      <div class="heads" role="group" aria-label=${labels.allHeads}>
        <span></span>${Array.from({ length: count }, (_, head) => html`<span class="head">${labels.head} ${head + 1}</span>`)}
        ${seen.patterns.map(
          (_, layer) =>
            html`<span>${labels.block} ${layer + 1}</span>${Array.from({ length: count }, (_, head) => {
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
        <p class="readout">${filled(labels.headReads, { block: chosen.layer + 1, head: chosen.head + 1 })} ${figure.placeName(top)}: <b>${percent(shown.most)}</b></p>
        <label class="switch"><input type="checkbox" .checked=${off(chosen.layer, chosen.head)} @change=${() => silence(figure, chosen)} />${labels.silence}</label>
        ${figure.book.editSpecs.length > 0 ? html`<button type="button" class="plain" @click=${() => figure.book.setEdits([])}>${labels.allOn}</button>` : nothing}
        <p class="note">${labels.ownScale}</p>
      </div>
    </div>`;
};

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

const rollout: Stage = (figure, seen) => {
  const { labels } = figure.words;
  const all = seen.patterns.map((_, layer) => rolled(seen, layer));
  const most = Math.max(...all.map((one) => one.most));
  const last = all.at(-1);
  return html`<div class="rollouts">${all.map(
    ({ numbers, source }, layer) =>
      html`<div><p>${filled(labels.upTo, { block: layer + 1 })}</p><patch-dots framed .numbers=${numbers} source=${source} .most=${most}></patch-dots></div>`,
  )}</div>
    <p class="readout">${filled(labels.rolloutScale, { most: percent(last?.most ?? 0), even: percent(1 / (places + 1)) })}</p>
    <p class="note">${labels.rolloutNote}</p>`;
};

const hide: Stage = (figure, seen) => {
  const { labels } = figure.words;
  return html`<div class="controls">
      <p class="readout">${filled(labels.hiddenCount, { n: seen.hidden.length, of: places })}</p>
      <div class="row">
        <button type="button" class="chip" ?disabled=${seen.hidden.length === 0} @click=${() => figure.choose({ hide: 'none' })}>${labels.showAll}</button>
      </div>
    </div>
    <p class="note">${labels.hideNote}</p>`;
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
