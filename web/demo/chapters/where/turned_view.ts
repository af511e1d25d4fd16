// The view of rotary positions: a dial per pair with the hands of query and key, the dot product, and the dot product
// for every distance.

import { four, spoken, two } from 'clearformer/elements';
import { html, nothing, svg, type TemplateResult } from 'lit';
import { filled, markup } from '../../book/markup.js';
import { clock } from './clock.js';
import type { WhereFigure } from './figure.js';
import './scores.js';
import { pairsOf, reach, type Turned } from './turned.js';

/** At most this many dials are shown; a head of a large model has more pairs. */
const mostDials = 8;

export function turnedView(figure: WhereFigure, all: Turned): TemplateResult {
  const { labels } = figure.words;
  const { queryPlace, keyPlace, sentence, key } = all;
  const distance = queryPlace - keyPlace;
  const product = Number(all.product.numbers.item());
  const secret = !figure.revealed;
  const named = (at: number): string => sentence.tokens[at]?.label ?? '';
  const values = {
    distance: spoken(distance),
    product: secret ? '?' : four(product),
    difference: four(all.difference),
    model: all.model === 'own' ? figure.shell.ownModel : all.model,
    q: named(sentence.focus),
    k: named(key),
  };
  return html`<div class="controls">${places(figure, all)}</div>
    <div class="dials">${dials(figure, all, secret)}</div>
    <p class="big">${markup(labels.productIs ?? '', values, figure.book.address)}</p>
    ${
      secret
        ? nothing
        : html`<div class="rows">
      <cf-matrix .numbers=${all.query.numbers} source=${all.query.source} label="q" hue="q" about=${labels.turnedQuery} bound="4"></cf-matrix>
      <cf-matrix .numbers=${all.keyRow.numbers} source=${all.keyRow.source} label="k" hue="k" about=${labels.turnedKey} bound="4"></cf-matrix>
    </div>
    <where-scores .numbers=${all.byDistance.numbers} source=${all.byDistance.source} label=${labels.byDistance} current=${distance} tall=${figure.inClass ? figure.wall(84) : 90}></where-scores>
    <p class="verdict">${labels.byDistance}</p>`
    }
    <p class="verdict">${markup(labels.sameAsModel ?? '', values, figure.book.address)}</p>`;
}

function places(
  figure: WhereFigure,
  { queryPlace, keyPlace, sentence, key, head, heads, layer, layers }: Turned,
): TemplateResult {
  const { labels } = figure.words;
  const slider = (
    name: string,
    hue: string,
    value: number,
    change: (value: number) => Record<string, string>,
  ): TemplateResult =>
    html`<label class="slider ${hue}"><span>${name}</span><input type="range" min="0" max=${reach - 1} .value=${String(value)} aria-label=${name} @input=${(event: Event) => figure.slide(change(Number((event.target as HTMLInputElement).value)))} /><b class="number">${value}</b></label>`;
  const low = Math.min(queryPlace, keyPlace);
  const both = (to: number): Record<string, string> => {
    const by = Math.min(reach - 1 - Math.max(queryPlace, keyPlace), to - low);
    return { qa: String(queryPlace + by), ka: String(keyPlace + by) };
  };
  return html`${slider(filled(labels.queryAt ?? '', { token: sentence.tokens[sentence.focus]?.label ?? '' }), 'q', queryPlace, (to) => ({ qa: String(to) }))}
    ${slider(filled(labels.keyAt ?? '', { token: sentence.tokens[key]?.label ?? '' }), 'k', keyPlace, (to) => ({ ka: String(to) }))}
    ${slider(labels.both ?? '', '', low, both)}
    <label class="slider"><span>${labels.keyOf}</span><select aria-label=${labels.keyOf} @change=${(event: Event) => figure.choose({ ko: (event.target as HTMLSelectElement).value, ka: undefined })}>${sentence.tokens.map((token, at) => html`<option value=${at} .selected=${at === key}>${at} ${token.label}</option>`)}</select></label>
    ${figure.choice(labels.layer ?? '', 'l', layer, layers)} ${figure.choice(labels.head ?? '', 'h', head, heads)}`;
}

function dials(
  figure: WhereFigure,
  { query, keyRow, plainQuery, plainKey, parts }: Turned,
  secret: boolean,
): TemplateResult[] {
  const pairs = [query, keyRow, plainQuery, plainKey].map(({ numbers }) => pairsOf(numbers));
  const [half = 0] = pairs[0]?.dims ?? [];
  const shown = Math.min(half, mostDials);
  const radius = figure.inClass ? figure.wall(64) : 54;
  const size = 2 * radius + 12;
  return Array.from({ length: shown }, (_, j) => {
    const rows = pairs.map((pair) => Array.from(pair.slice(j).data));
    const longest = Math.max(...rows.map(([x = 0, y = 0]) => Math.hypot(x, y))) || 1;
    // The first number is y and the second x, so that a rotation by the position's angle is clockwise, as on the
    // clocks.
    const hand = (row: number, colour: string) => ({
      across: (rows[row]?.[1] ?? 0) / longest,
      up: (rows[row]?.[0] ?? 0) / longest,
      colour,
    });
    const centre = size / 2;
    const faint = (row: number, colour: string): TemplateResult => {
      const { across, up } = hand(row, colour);
      return svg`<path d="M${centre} ${centre}L${centre + (radius - 8) * across} ${centre - (radius - 8) * up}" stroke=${colour} stroke-width="1.5" stroke-dasharray="2 4" opacity="0.7"/>`;
    };
    const hands = secret ? [] : [hand(0, 'var(--cf-q)'), hand(1, 'var(--cf-k)')];
    return html`<figure>
      <svg width=${size} height=${size} viewBox="0 0 ${size} ${size}" role="img" aria-label=${filled(figure.words.labels.dial ?? '', { a: j, b: half + j })}>
        ${faint(2, 'var(--cf-q)')}${faint(3, 'var(--cf-k)')}
        ${clock({ cx: centre, cy: centre, radius, hands, turn: 0 })}
      </svg>
      <figcaption><i>x</i><sub>${j}</sub>, <i>x</i><sub>${half + j}</sub> <b class="number">${secret ? '?' : two(Number(parts.numbers.data[j]))}</b></figcaption>
    </figure>`;
  }).concat(
    half > shown
      ? [html`<p class="verdict">${filled(figure.words.labels.dialsOf ?? '', { n: shown, of: half })}</p>`]
      : [],
  );
}
