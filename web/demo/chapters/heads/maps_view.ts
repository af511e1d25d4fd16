// All heads of a layer side by side: attention maps, outputs, one query's weights in each, and the probabilities.

import { two } from 'clearformer/elements';
import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { filled } from '../../book/markup.js';
import { oddsBars } from '../../book/odds.js';
import { isAbove } from '../../book/upper_part.js';
import { vars } from '../../book/vars.js';
import type { Data, FigureHeads } from './figure.js';
import { habitFrom, kinds } from './habits.js';
import type { Reading } from './reading.js';

interface CellEvent extends CustomEvent<{ row: number; column: number } | null> {}

const colours = 8;
export const hueOf = (head: number): string => `h${head % colours}`;

export function mapsView(figure: FigureHeads, data: Data): TemplateResult {
  const { reading } = data;
  const { width } = figure;
  const columns = width < 700 ? Math.min(4, reading.heads) : reading.heads;
  const room = width >= 1000 && !figure.inClass ? width - 280 : width;
  const cell = Math.max(5, Math.min(30, ((room || 900) / columns - 14 - 18) / reading.shown));
  return html`<div class="with-odds maps">
    <div>
      <div class="heads" ${vars({ '--columns': columns })}>
        ${reading.patterns.map((_, head) => oneHead(figure, data, head, cell))}
      </div>
      <div class="lower">${rows(figure, reading)}</div>
      <p class="said">${figure.note || '\u00A0'}</p>
    </div>
    ${odds(figure, reading)}
  </div>`;
}

function oneHead(figure: FigureHeads, data: Data, head: number, cell: number): TemplateResult {
  const { reading } = data;
  const { labels } = figure.words;
  const { stack, layer, from, shown, focus, off, width } = reading;
  const block = `${stack}.${layer}.attn`;
  const range = `${from}:${from + shown}`;
  const place = { head: head + 1, layer: layer + 1 };
  const height = Math.max(6, cell * (figure.inClass ? 0.53 : 0.83));
  const silent = figure.isOff(reading, head);
  return html`<div class="head ${hueOf(head)} ${off[head] ? 'off' : ''}">
    <div class="name-row">
      <button type="button" class="name" aria-pressed=${head === figure.headOf(reading)} @click=${() => figure.choose({ h: String(head) })}>${filled(labels.head, { head: head + 1 })}</button>
      <label class="switch" title=${filled(silent ? labels.switchOn : labels.switchOff, place)}>
        <input type="checkbox" aria-label=${filled(labels.switchName, place)} .checked=${live(!silent)} @change=${() => figure.toggle(reading, head)} />
      </label>
    </div>
    <span class="habit">${habitOf(figure, data, head)}</span>
    ${attentionMap(figure, reading, head, { cell, height })}
    <cf-matrix caption="none" label=${filled(labels.takenName, place)} source="${block}.hook_z[0, ${range}, ${head}]"
      .numbers=${reading.taken[head]} .cellWidth=${(cell * shown) / width} .cellHeight=${height} .bound=${boundOf(reading)}
      .rails=${{ rows: [focus - from], rowHue: 'q' }}></cf-matrix>
  </div>`;
}

/** A head's map, with the tokens' names on request; the pointer tells the weights. */
export function attentionMap(
  figure: FigureHeads,
  reading: Reading,
  head: number,
  { cell, height, named = false }: { cell: number; height: number; named?: boolean },
): TemplateResult {
  const { stack, layer, from, shown, focus, tokens } = reading;
  const range = `${from}:${from + shown}`;
  const names = named ? tokens.slice(from, from + shown).map(({ label }) => label) : undefined;
  return html`<cf-matrix caption="none" scale="weights" label=${filled(figure.words.labels.mapName, { head: head + 1, layer: layer + 1 })} source="${stack}.${layer}.attn.hook_pattern[0, ${head}, ${range}, ${range}]"
    .numbers=${reading.patterns[head]} .cellWidth=${cell} .cellHeight=${height} .masked=${stack === 'blocks' ? ahead : undefined} .rowLabels=${names} .columnLabels=${names}
    .rails=${{ rows: [focus - from], rowHue: 'q' }}
    @cell-point=${(event: CellEvent) => tell(figure, reading, head, event.detail)}
    @cell-select=${(event: CellEvent) => event.detail && figure.choose({ h: String(head), q: String(from + event.detail.row) })}></cf-matrix>`;
}

const ahead = (row: number, column: number): boolean => column > row;

/** One colour scale for the outputs of all heads. */
export const boundOf = ({ joined }: Reading): number =>
  joined.data.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;

function tell(figure: FigureHeads, { tokens, from, patterns }: Reading, head: number, cell: CellEvent['detail']): void {
  if (cell === null) {
    figure.note = '';
    return;
  }
  const [reader, seen] = [cell.row, cell.column].map((at) => tokens[from + at]?.label ?? '');
  const weight = patterns[head]?.slice(cell.row, [cell.column, cell.column + 1]).item() ?? 0;
  figure.note = filled(figure.words.labels.reads, {
    head: head + 1,
    reader: reader ?? '',
    seen: seen ?? '',
    weight: two(weight),
  });
}

/** The pattern with the head's highest score, if it is above the threshold. */
function habitOf(figure: FigureHeads, { habits, reading }: Data, head: number): string {
  const scored = kinds.map((kind) => ({
    kind,
    score: habits?.scores[kind].data[reading.layer * reading.heads + head] ?? Number.NaN,
  }));
  const best = scored.filter(({ score }) => score >= habitFrom).sort((a, b) => b.score - a.score)[0];
  return best ? `${figure.words.labels[best.kind]} ${two(best.score)}` : '\u00A0';
}

/** Which tokens are shown, unless all are. */
export const windowNote = (figure: FigureHeads, { from, shown, tokens }: Reading): string =>
  shown < tokens.length
    ? filled(figure.words.labels.window, { from: from + 1, to: from + shown, of: tokens.length })
    : '';

/** The chosen token's weights, one row per head. */
function rows(figure: FigureHeads, reading: Reading): TemplateResult {
  const { labels } = figure.words;
  const { tokens, from, shown, focus, layer, stack, heads } = reading;
  const data = new Float32Array(heads * shown);
  reading.patterns.forEach((map, head) => {
    data.set(map.slice(focus - from).data, head * shown);
  });
  const names = tokens.slice(from, from + shown).map(({ label }) => label);
  return html`<div>
    <p class="caption">${filled(labels.whom, { token: tokens[focus]?.label ?? '' })} <span class="muted">${windowNote(figure, reading)}</span></p>
    <cf-matrix scale="weights" label="A" about=${labels.weightsOf} source="${stack}.${layer}.attn.hook_pattern[0, :, ${focus}, ${from}:${from + shown}]"
      .numbers=${{ dims: [heads, shown], data }} .rowLabels=${reading.patterns.map((_, head) => filled(labels.head, { head: head + 1 }))} .columnLabels=${names}
      .cellWidth=${figure.narrow ? 0 : figure.inClass ? figure.wall(60) : 38} .cellHeight=${figure.narrow ? 17 : figure.inClass ? figure.wall(26) : 20}
      .rails=${{ rows: [figure.headOf(reading)] }}
      @cell-select=${(event: CellEvent) => event.detail && figure.choose({ h: String(event.detail.row) })}></cf-matrix>
  </div>`;
}

/** The next-token probabilities with the ablations and with all heads. */
export function odds(figure: FigureHeads, reading: Reading): TemplateResult {
  const { labels } = figure.words;
  const edited = reading.specs.length > 0;
  const off = figure.specs.length;
  return html`<div class="odds">
    ${oddsBars({ odds: reading.odds, edited, revealed: figure.revealed, narrow: isAbove(), large: figure.inClass, labels })}
    ${edited ? html`<p class="readout">${filled(labels.offCount, { n: off })}</p><button type="button" class="plain" @click=${() => figure.choose({ edit: '' })}>${labels.allOn}</button>` : html`<p class="readout">${labels.tryOff}</p>`}
    <p class="verdict">${labels.caveat}</p>
  </div>`;
}
