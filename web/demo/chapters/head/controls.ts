// Beside the formula: the choice of layer and head, the reader's own matrices, and the effect of an edit on the next
// token.

import { percent } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import { filled } from '../../book/markup.js';
import { leaders } from '../../book/odds.js';
import type { HeadData } from './head_numbers.js';

export const controlsStyles = css`
  .which { display: flex; gap: 4px 14px; align-items: center; flex-wrap: wrap; color: var(--cf-muted); }
  .which label { display: inline-flex; gap: 6px; align-items: center; }
  .which select { min-height: 30px; padding: 0 4px; color: var(--cf-ink); }
  .which small { font-size: max(12.5px, var(--cf-min-font-size)); flex-basis: 100%; }
  .odds { justify-self: end; display: grid; justify-items: end; gap: 2px; font-variant-numeric: tabular-nums; }
  .odds p { white-space: nowrap; } .odds .then { display: flex; gap: 4px 14px; flex-wrap: wrap; justify-content: flex-end; }
  .odds .serif { font-size: max(17px, var(--cf-min-font-size)); } .large .which small { display: none; } .large .odds .serif { font-size: calc(26px * var(--wall)); } .large .which { flex-wrap: nowrap; white-space: nowrap; } .large .which select { min-height: calc(38px * var(--wall)); }
  .large .odds { gap: 0; line-height: 1.1; margin: -3px 0 -6px; } .large .odds .plain { min-height: 0; padding: 0 0 0 9px; } .large .odds .then { flex-wrap: nowrap; }
  @media (max-width: 1600px) { .large .odds .then > span:nth-child(n + 3):not(.best) { display: none; } } @media (max-width: 1400px) { .large .odds .muted:first-child { display: none; } } @media (max-width: 1000px) { .large .odds .then > span:not(.best) { display: none; } }
  @container (max-width: 860px) { .which small { display: none; } .odds { justify-self: start; justify-items: start; } .odds .then { justify-content: flex-start; } }
`;

type Labels = Readonly<Record<string, string>>;

interface ControlsRequest {
  readonly head: HeadData;
  readonly labels: Labels;
  readonly isOwn: boolean;
  /** Whether the fields for them are open. */
  readonly isOpen: boolean;
  choose(changes: Readonly<Record<string, string | undefined>>): void;
  own(): void;
}

export function controls({ head, labels, isOwn, isOpen, choose, own }: ControlsRequest): TemplateResult {
  const { hooks } = head;
  const select = (key: 'l' | 'h', name: string | undefined, count: number, chosen: number): TemplateResult =>
    html`<label>${name}<select aria-label=${name ?? ''} @change=${(event: Event) => choose({ [key]: (event.target as HTMLSelectElement).value })}>${Array.from(
      { length: count },
      (_, i) => html`<option value=${i} .selected=${i === chosen}>${i + 1}</option>`,
    )}</select></label>`;
  const grouped = hooks && hooks.kvHeads < hooks.heads;
  return html`<div class="which">
    ${hooks ? html`${select('l', labels.layer, hooks.layers, hooks.layer)}${select('h', labels.head, hooks.heads, hooks.head)}` : html`<span>${labels.yours}</span>`}
    <button type="button" class="plain" aria-expanded=${isOwn ? nothing : isOpen} @click=${own}>${isOwn ? labels.model : labels.own}</button>
    ${grouped ? html`<small>${filled(labels.grouped ?? '', { heads: hooks.heads, kvHeads: hooks.kvHeads, kvHead: hooks.kvHead + 1 })}</small>` : nothing}
  </div>`;
}

interface OddsRequest {
  readonly head: HeadData;
  readonly labels: Labels;
  readonly edited: boolean;
  undo(): void;
  restore(): void;
}

export function odds({ head, labels, edited, undo, restore }: OddsRequest): TemplateResult {
  if (!edited) return html`<span></span>`;
  const best = leaders(head.odds).now; // always shown
  return html`<div class="odds">
    ${head.odds.length > 0 ? html`<p class="then"><span class="muted">${labels.next}</span>${head.odds.map((one) => html`<span class=${one === best ? 'best' : ''}><span class="serif">${one.piece.label}</span> <span class="muted">${percent(one.before)} →</span> <b>${percent(one.now)}</b></span>`)}</p>` : nothing}
    <p><button type="button" class="plain" @click=${undo}>${labels.undo}</button><button type="button" class="plain" @click=${restore}>${labels.restore}</button></p>
  </div>`;
}
