// softmax(QKᵀ / √d + M) V with a button for each symbol: pointing highlights its matrix, pressing moves to it.

import { css, html, type TemplateResult } from 'lit';
import type { FormulaPart } from './canvas.js';

export const formulaStyles = css`
  .formula { font: 26px/1.2 var(--cf-serif); display: flex; align-items: center; justify-content: center; gap: 2px; flex-wrap: wrap; }
  .formula button { border: 0; background: none; font: inherit; padding: 2px 5px; border-radius: 6px; cursor: pointer; }
  .formula button:hover, .formula button.lit { background: var(--cf-sunken); }
  .formula .q.lit { background: var(--cf-q-soft); } .formula .k.lit { background: var(--cf-k-soft); } .formula .v.lit { background: var(--cf-v-soft); }
  .formula sup { font-size: 0.62em; font-style: normal; line-height: 0; }
  .formula .root { border-top: 1.5px solid; padding: 0 3px 0 1px; margin-left: -1px; font-style: italic; }
  .large .formula .paren { font-size: 1.3em; }
  .formula .paren { font-size: 2.05em; line-height: 0.8; transform: scaleX(0.72); color: var(--cf-muted); }
  .frac { margin: 0 4px; display: inline-grid; justify-items: center; vertical-align: middle; }
  .frac > span:first-child { border-bottom: 1.5px solid var(--cf-ink); padding: 0 4px 1px; }
  .large .formula { font-size: calc(30px * var(--wall)); flex-wrap: nowrap; white-space: nowrap; } @media (max-width: 1000px) { .large .formula { font-size: calc(26px * var(--wall)); } } .large .frac { display: inline-flex; align-items: center; } .large .frac > span:first-child { border: 0; } .large .frac > span:first-child::after { content: ' / '; white-space: pre; color: var(--cf-muted); }
  @container (max-width: 860px) { .formula { font-size: 20px; } .formula button { min-width: 24px; min-height: 24px; } }
  @media (max-width: 520px) { .formula { font-size: 16px; } .formula button { padding: 0 4px; } }
`;

interface FormulaRequest {
  readonly lit: ReadonlySet<FormulaPart>;
  readonly labels: Readonly<Record<string, string>>;
  point(part: FormulaPart | undefined): void;
  choose(part: FormulaPart): void;
}

export function formula({ lit, labels, point, choose }: FormulaRequest): TemplateResult {
  const symbol = (part: FormulaPart, content: TemplateResult): TemplateResult =>
    html`<button type="button" class="${part} ${lit.has(part) ? 'lit' : ''}" aria-label=${labels[`symbol_${part}`] ?? part}
      @pointerenter=${() => point(part)} @pointerleave=${() => point(undefined)} @focus=${() => point(part)} @blur=${() => point(undefined)}
      @click=${() => choose(part)}>${content}</button>`;
  return html`<div class="formula" role="group" aria-label=${labels.formula ?? ''}>
    ${symbol('soft', html`softmax`)}<span class="paren" aria-hidden="true">(</span>
    <span class="frac"><span>${symbol('q', html`<i>Q</i>`)}${symbol('k', html`<i>K</i><sup>⊤</sup>`)}</span>${symbol('d', html`√<span class="root">d</span>`)}</span>
    <span aria-hidden="true">&nbsp;+&nbsp;</span>${symbol('m', html`<i>M</i>`)}<span class="paren" aria-hidden="true">)</span>${symbol('v', html`<i>V</i>`)}
  </div>`;
}
