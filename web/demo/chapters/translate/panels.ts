// The panel below source and target, for each view of chapter 9.

import { two } from 'clearformer/elements';
import { html, nothing, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { activation } from '../../book/shelf.js';
import { isAbove } from '../../book/upper_part.js';
import { partOf, partText, rangeOf, type Window, windowAround } from '../../book/window.js';
import type { FigureTranslate, Shown, View } from './figure.js';
import { type Empty, rowsOf, type Told, weightsOf } from './reading.js';

type Panel = (figure: FigureTranslate, told: Told, shown: Shown) => TemplateResult;

export const panelOf = (figure: FigureTranslate, shown: Shown, told: Told): TemplateResult =>
  panels[figure.view](figure, told, shown);

/** Where matrices take the full width. */
const narrow = matchMedia('(max-width: 500px)');

/** At most this many rows or columns of a long text are shown. */
const most = ({ inClass }: FigureTranslate): number => (inClass ? 10 : 14);
/** Cell size of the attention maps, large enough for digits in class mode. */
const mapCell = (figure: FigureTranslate, width: number, height: number): { width: number; height: number } =>
  figure.inClass ? { width: figure.wall(57), height: figure.wall(27) } : { width, height };

const labelsOf = (pieces: readonly { label: string }[], window: Window): string[] =>
  pieces.slice(...rangeOf(window)).map(({ label }) => label);

/** "Tokens 3 to 16 of 40", unless all are shown. */
function windowNote(figure: FigureTranslate, { from, count, of }: Window): TemplateResult | typeof nothing {
  if (count === of) return nothing;
  return html`<p class="note">${filled(figure.words.labels.window, { from: from + 1, to: from + count, of })}</p>`;
}

/** The source token with the largest weight at the step. */
function mostRead(figure: FigureTranslate, told: Told): number {
  const { layer, head } = figure.chosenHead(told);
  const { data } = weightsOf(told.pass, `decoder.${layer}.cross_attn.hook_pattern`, head).slice(told.step);
  return data.indexOf(Math.max(...data));
}

const faces: Panel = (figure) => html`<p class="note">${figure.words.labels.facesNote}</p>${heads(figure)}`;

function heads(figure: FigureTranslate): TemplateResult {
  const { labels } = figure.words;
  const told = figure.data?.told;
  if (told?.kind !== 'told') return html``;
  const chosen = figure.chosenHead(told);
  const layers = Object.keys(told.pass.cache).filter((name) => name.endsWith('cross_attn.hook_pattern')).length;
  const count = activation(told.pass, 'decoder.0.cross_attn.hook_pattern').dims[1] ?? 1;
  const seg = (name: string, key: string, of: number, at: number): TemplateResult =>
    html`<div class="seg" role="group" aria-label=${name}><span>${name}</span>${Array.from(
      { length: of },
      (_, i) =>
        html`<button type="button" aria-pressed=${i === at ? 'true' : 'false'} @click=${() => figure.choose({ [key]: String(i) })}>${i + 1}</button>`,
    )}</div>`;
  return html`<div class="heads">${seg(labels.block, 'l', layers, chosen.layer)}${seg(labels.head, 'h', count, chosen.head)}</div>`;
}

const read: Panel = (figure, told) => {
  const { labels } = figure.words;
  const { layer, head } = figure.chosenHead(told);
  const window = windowAround(mostRead(figure, told), told.source.length, most(figure));
  const range = rangeOf(window);
  const pattern = weightsOf(told.pass, `encoder.${layer}.attn.hook_pattern`, head).slice(range, range);
  const memory = activation(told.pass, `encoder.${layer}.hook_normalized_resid_post`).slice(0, range);
  const names = labelsOf(told.source, window);
  const cell = mapCell(figure, 28, 22);
  return html`${heads(figure)}<div class="line sideways">
      <cf-matrix .numbers=${pattern} source="encoder.${layer}.attn.hook_pattern[0, ${head}${rangeText(window)}${rangeText(window)}]" label="A" about=${labels.everyoneReads} scale="weights" hue="k" .rowLabels=${names} .columnLabels=${names} .cellWidth=${cell.width} .cellHeight=${cell.height}></cf-matrix>
      <cf-matrix .numbers=${memory} source="encoder.${layer}.hook_normalized_resid_post[0${rangeText(window)}]" label="M" about=${labels.memory} hue="k" .cellWidth=${figure.inClass ? figure.wall(1.6) : 2.6} .cellHeight=${cell.height}></cf-matrix>
    </div>${windowNote(figure, window)}`;
};

const rangeText = (window: Window): string => `, ${partText(partOf(window))}`;

const write: Panel = (figure, told) => {
  const { labels } = figure.words;
  const written = told.target.slice(0, told.step);
  const { layer, head } = figure.chosenHead(told);
  const count = figure.revealed ? told.ids.length - 1 : told.step + 1;
  const window = windowAround(told.step, count, most(figure));
  const range = rangeOf(window);
  const [from] = range;
  const pattern = weightsOf(told.pass, `decoder.${layer}.attn.hook_pattern`, head).slice(range, range);
  const cell = mapCell(figure, 28, 21);
  const names = [told.start, ...told.target].map(({ label }) => label).slice(...range);
  return html`<p class="so-far" lang="fr">${written.map(({ text }, i) => html`<span class=${i < told.forced.length ? 'new' : ''}>${text}</span>`)} <span class="gap">${figure.revealed ? (told.target[told.step]?.label ?? '') : '?'}</span></p>
    <cf-matrix .numbers=${pattern} source="decoder.${layer}.attn.hook_pattern[0, ${head}${rangeText(window)}${rangeText(window)}]" label="A" about=${labels.ownMask} scale="weights" hue="q" .rowLabels=${names} .columnLabels=${names} .rails=${{ rows: [told.step - from] }}
      .masked=${(row: number, column: number) => column > row} .cellWidth=${cell.width} .cellHeight=${cell.height} @cell-select=${(event: CustomEvent<{ row: number }>) => figure.choose({ s: String(from + event.detail.row) })}></cf-matrix>
    ${windowNote(figure, window)}<p class="note">${labels.clickToForce}</p>`;
};

const cross: Panel = (figure, told) => {
  const { labels } = figure.words;
  const { layer, head } = figure.chosenHead(told);
  const { pass, step } = told;
  const window = windowAround(mostRead(figure, told), told.source.length, most(figure));
  const range = rangeOf(window);
  const hook = (name: string): string => `decoder.${layer}.cross_attn.hook_${name}`;
  const one = (name: string): ReturnType<typeof rowsOf> => rowsOf(pass, hook(name), head);
  const names = labelsOf(told.source, window);
  const weights = weightsOf(pass, hook('pattern'), head).slice(step, range);
  const query = one('q').slice([step, step + 1]);
  const z = one('z').slice([step, step + 1]);
  const rows = rangeText(window).slice(2);
  const before = (step === 0 ? told.start : told.target[step - 1])?.label ?? '';
  const size = figure.inClass
    ? { width: figure.wall(13), height: figure.wall(27) }
    : { width: isAbove() ? 8 : 12, height: 17 };
  return html`${heads(figure)}<div class="cross sideways">
      <cf-matrix .numbers=${query} source="${hook('q')}[0, ${step}, ${head}]" label="Q" about=${filled(labels.fromDecoder, { token: before })} caption="above" hue="q" .cellWidth=${size.width} .cellHeight=${size.height}></cf-matrix>
      <span></span><span></span>
      <cf-matrix .numbers=${one('k').slice(range)} source="${hook('k')}[0, ${rows}, ${head}]" label="K" about=${labels.fromEncoder} hue="k" .rowLabels=${names} .cellWidth=${size.width} .cellHeight=${size.height}></cf-matrix>
      <cf-matrix .numbers=${{ dims: [window.count, 1], data: weights.data }} source="${hook('pattern')}[0, ${head}, ${step}, ${rows}]" label="A" about="" scale="weights" hue="ink" .cellWidth=${figure.inClass ? figure.wall(62) : 40} .cellHeight=${size.height} digits="2"></cf-matrix>
      <cf-matrix .numbers=${one('v').slice(range)} source="${hook('v')}[0, ${rows}, ${head}]" label="V" about=${labels.fromEncoder} hue="v" .rowLabels=${names} .cellWidth=${size.width} .cellHeight=${size.height}></cf-matrix>
      <span></span><span></span>
      <cf-matrix .numbers=${z} source="${hook('z')}[0, ${step}, ${head}]" label="Z" about=${labels.carried} hue="ink" .cellWidth=${size.width} .cellHeight=${size.height}></cf-matrix>
    </div>${windowNote(figure, window)}`;
};

const map: Panel = (figure, told) => {
  const { labels } = figure.words;
  const { layer, head } = figure.chosenHead(told);
  const hook = `decoder.${layer}.cross_attn.hook_pattern`;
  const all = weightsOf(told.pass, hook, head);
  const rows = windowAround(told.step, told.target.length, most(figure));
  const columns = windowAround(mostRead(figure, told), told.source.length, most(figure));
  return html`${heads(figure)}
    <cf-matrix .numbers=${all.slice(rangeOf(rows), rangeOf(columns))} source="${hook}[0, ${head}${rangeText(rows)}${rangeText(columns)}]" label="A" about=${labels.mapAbout} scale="weights" hue="q"
      .rowLabels=${labelsOf(told.target, rows)} .columnLabels=${labelsOf(told.source, columns)} .rails=${{ rows: [told.step - rows.from] }} .cellWidth=${narrow.matches ? 0 : figure.inClass ? figure.wall(62) : 38} .cellHeight=${figure.inClass ? figure.wall(27) : 24}
      @cell-select=${(event: CustomEvent<{ row: number }>) => figure.choose({ s: String(rows.from + event.detail.row) })}></cf-matrix>
    ${windowNote(figure, rows)}${windowNote(figure, columns)}`;
};

const beams: Panel = (figure, told, { other }) => {
  const { labels } = figure.words;
  const wide = figure.value('b') === '4';
  const [greedy, broad] = wide ? [other, told] : [told, other];
  const line = (name: string, beam: string, one: Told | Empty): TemplateResult =>
    one.kind === 'empty'
      ? html``
      : html`<div><button type="button" class="chip" aria-pressed=${figure.value('b') === beam ? 'true' : 'false'} @click=${() => figure.choose({ b: beam })}>${name}</button>
          <span class="text" lang="fr">${one.sentence}</span><span class="readout">${labels.logProbability} <b>${two(one.score)}</b></span></div>`;
  return html`<div class="both">${line(labels.greedy, '1', greedy)}${line(labels.beams, '4', broad)}</div><p class="note">${labels.beamsNote}</p>`;
};

const panels: Readonly<Record<View, Panel>> = { faces, read, write, cross, map, beams };
