// The panel below the table: the chosen pair as a large dial, and the shift from i to i + δ as a 2 × 2 matrix.

import { four, spoken, two } from 'clearformer/elements';
import { html, nothing, svg, type TemplateResult } from 'lit';
import '../../book/bracketed.js';
import { filled, markup } from '../../book/markup.js';
import { clock, type Hand } from './clock.js';
import type { WhereFigure } from './figure.js';
import { type Places, places, type Stepped } from './places.js';

export function stepPanel(figure: WhereFigure, all: Places): TemplateResult {
  return html`<div class="panel">${dial(figure, all)}<div>${line(figure, all)}</div></div>`;
}

function line(figure: WhereFigure, all: Places): TemplateResult {
  const { labels } = figure.words;
  if (typeof all.stepped === 'string') {
    return html`<p class="verdict"><b>${labels.noStep}</b> ${labels.saysPackage} <code>${all.stepped}</code></p>${factors(figure, all)}`;
  }
  if (all.sines) return factors(figure, all);
  return product(figure, all, all.stepped);
}

/** [2, 2] · [sin, cos] = [sin, cos], and the difference from the table's row. */
function product(figure: WhereFigure, all: Places, stepped: Stepped): TemplateResult {
  const { words, book } = figure;
  const { labels } = words;
  const { i, delta, pair, omegas, misprint } = all;
  const secret = !figure.revealed;
  const [sine = 0, cosine = 0] = stepped.wanted.numbers.data;
  const values = {
    row: String(i + delta),
    i: String(i),
    delta: String(delta),
    omega: spoken(omegas[pair] ?? 0),
    difference: four(stepped.difference),
    sin: two(sine),
    cos: two(cosine),
  };
  const verdict = misprint ? labels.butRow : labels.rowHolds;
  return html`<div class="algebra">
      <book-bracketed class="a" .numbers=${stepped.block.numbers} source=${stepped.block.source} label=${labels.stepMatrix} wrongRow=${misprint ? 1 : -1} ?secret=${secret}></book-bracketed>
      <span>·</span>
      <book-bracketed .numbers=${stepped.from.numbers} source=${stepped.from.source} label=${filled(labels.rowPair ?? '', values)}></book-bracketed>
      <span>=</span>
      <book-bracketed .numbers=${stepped.got.numbers} source=${stepped.got.source} label=${labels.product} ?secret=${secret}></book-bracketed>
      ${secret ? nothing : html`<span class="verdict ${misprint ? 'off' : ''}">${markup(verdict ?? '', values, book.address)}</span>`}
    </div>
    ${secret ? nothing : html`<p class="verdict under">${markup((misprint ? labels.shouldRead : labels.onlyDelta) ?? '', values, book.address)}</p>`}`;
}

/** The factor between the sines at i and i + δ, for three neighbouring positions: there is no constant one. */
function factors({ words, book }: WhereFigure, { table, columns, pair, i, delta, d }: Places): TemplateResult {
  const [sine = 0] = columns[pair] ?? [];
  const shadow = (row: number): number => table.numbers.data[row * d + sine] ?? 0;
  const rows = [i, i + 1, i + 2].filter((row) => row + delta < places);
  const factor = (row: number): string => (shadow(row) === 0 ? '∞' : two(shadow(row + delta) / shadow(row)));
  return html`<div class="algebra">
      <span class="a">?</span><span>·</span><span><i>sin</i>(<i>iω</i>)</span><span>=</span><span class="a"><i>sin</i>((<i>i</i> + <i>δ</i>)<i>ω</i>)</span>
      ${rows.map((row) => html`<span class="factor"><i>i</i> = ${row}: <b class="a">${factor(row)}</b></span>`)}
    </div>
    <p class="verdict under">${markup(words.labels.noFactor ?? '', {}, book.address)}</p>`;
}

function dial(figure: WhereFigure, all: Places): TemplateResult {
  const { revealed, inClass } = figure;
  const { table, columns, pair, i, delta, d, omegas, sines, misprint, stepped } = all;
  const [sine = 0, cosine] = columns[pair] ?? [];
  const radius = inClass ? figure.wall(76) : 58;
  const size = 2 * radius + 16;
  const { data } = table.numbers;
  const hand = (row: number, colour: string): Hand => {
    const across = data[row * d + sine] ?? 0;
    const up = cosine === undefined ? Math.sqrt(Math.max(0, 1 - across * across)) : (data[row * d + cosine] ?? 0);
    return { across, up, colour };
  };
  const from = hand(i, 'var(--cf-ink)');
  const hands = revealed ? [from, hand(i + delta, 'var(--cf-accent)')] : [from];
  if (misprint && revealed && typeof stepped !== 'string') {
    const [across = 0, up = 0] = stepped.got.numbers.data;
    hands.push({ across, up, colour: 'var(--cf-wrong)', dashed: true });
  }
  const shadows = sines || cosine === undefined;
  const centre = size / 2;
  const [x, y] = [centre + (radius - 8) * from.across, centre - (radius - 8) * from.up];
  return html`<svg class="dial" width=${size} height=${size} aria-hidden="true">
    <path d="M${centre} ${centre - radius}v5M${centre} ${centre + radius}v-5M${centre - radius} ${centre}h5M${centre + radius} ${centre}h-5" stroke="var(--cf-line-strong)"/>
    ${shadows ? nothing : svg`<path d="M${centre} ${y}H${x}M${x} ${centre}V${y}" stroke="var(--cf-line-strong)" stroke-dasharray="2 3"/>`}
    ${clock({ cx: centre, cy: centre, radius, hands, turn: delta * (omegas[pair] ?? 0), shadows, bold: shadows })}
  </svg>`;
}
