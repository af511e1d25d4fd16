// What could have been written at one place: the likeliest tokens, the model's probability of each, and the
// chance it had in the draw. Taking another one writes the story on from there.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { Candidate, Distribution } from '../book/distribution.js';
import { amount, percent, visible } from '../state/format.js';
import { shared } from './styles.js';

export class CandidateList extends LitElement {
  static override properties: PropertyDeclarations = {
    distribution: { attribute: false },
    textOf: { attribute: false },
  };
  declare distribution: Distribution | undefined;
  /** Text of a token at this place. */
  declare textOf: (token_id: number) => string;

  static override styles = [
    shared,
    css`
      table { width: 100%; border-collapse: collapse; font-size: 0.9rem; table-layout: fixed; }
      th { font-weight: 500; color: var(--muted); text-align: left; font-size: 0.8rem; padding: 0 0 4px; }
      td { padding: 2px 0; height: 28px; }
      .token { width: 23%; }
      .share { width: 19%; text-align: right; white-space: nowrap; }
      .take { width: 38px; text-align: right; }
      tr.chosen td:first-child { font-weight: 700; }
      .name {
        font-family: var(--font-code);
        font-size: 0.86rem;
        display: inline-block;
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        vertical-align: middle;
        padding: 1px 5px;
        border-radius: 5px;
        background: var(--sunken);
      }
      .chosen .name { outline: 2px solid var(--focus); background: var(--focus-soft); }
      .bars { padding-left: 10px; }
      .bar { height: 7px; border-radius: 2px; }
      .bar + .bar { margin-top: 2px; }
      .model { background: var(--bar-model); }
      .draw { background: var(--bar-draw); }
      .key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 4px; vertical-align: -1px; }
      .cut { color: var(--muted); }
      .take button { min-height: 26px; padding: 0 7px; font-size: 0.87rem; color: var(--accent); }
      .facts { margin-top: 8px; }
      @media (max-width: 560px) { .token { width: 26%; } .share { width: 19%; font-size: 0.84rem; } }
    `,
  ];

  constructor() {
    super();
    this.textOf = (id) => `#${id}`;
  }

  override render(): TemplateResult | typeof nothing {
    const shown = this.distribution;
    if (!shown) return nothing;
    const sampled = shown.survivors !== undefined;
    return html`
      <table>
        <caption class="sr-only">The likeliest tokens at this place</caption>
        <thead>
          <tr>
            <th scope="col" class="token">token</th>
            <td class="bars" aria-hidden="true"></td>
            <th scope="col" class="share"><i class="key model"></i>model</th>
            ${sampled ? html`<th scope="col" class="share"><i class="key draw"></i>in draw</th>` : nothing}
            <th scope="col" class="take"><span class="sr-only">write on with it</span></th>
          </tr>
        </thead>
        <tbody>${shown.candidates.map((one) => this.#row(one, shown))}</tbody>
      </table>
      <p class="hint facts number">${this.#facts(shown)}</p>
    `;
  }

  #row(one: Candidate, shown: Distribution): TemplateResult {
    const widest = Math.max(
      ...shown.candidates.map((each) => Math.max(each.model_probability, each.draw_probability ?? 0)),
    );
    const width = (share: number): { width: string } => ({ width: `${(share / widest) * 100}%` });
    const name = visible(this.textOf(one.token_id));
    const draw = one.draw_probability;
    return html`<tr class=${one.is_chosen ? 'chosen' : ''} data-token=${one.token_id}>
      <td class="token"><span class="name" title="token ${one.token_id}, rank ${one.rank + 1}">${name}</span></td>
      <td class="bars" aria-hidden="true">
        <div class="bar model" style=${styleMap(width(one.model_probability))}></div>
        ${draw === undefined ? nothing : html`<div class="bar draw" style=${styleMap(width(draw))}></div>`}
      </td>
      <td class="share number">${percent(one.model_probability)}</td>
      ${draw === undefined ? nothing : html`<td class="share number ${draw === 0 ? 'cut' : ''}">${draw === 0 ? 'cut' : percent(draw)}</td>`}
      <td class="take">${one.is_chosen ? nothing : this.#takeButton(one, name)}</td>
    </tr>`;
  }

  #takeButton(one: Candidate, name: string): TemplateResult {
    const take = (): boolean => this.dispatchEvent(new CustomEvent('candidate-take', { detail: one.token_id }));
    return html`<button class="plain" @click=${take} title="Write on from here with this token" aria-label="Write on from here with ${name}">↳</button>`;
  }

  #facts(shown: Distribution): string {
    const chosen = shown.candidates.find((one) => one.is_chosen);
    const rank = chosen
      ? `The token in the text was the model's number ${chosen.rank + 1} of ${amount(shown.vocabulary)}. `
      : '';
    const left = shown.survivors;
    const draw = left === undefined ? '' : `${left === 1 ? 'Only 1 was' : `${amount(left)} were`} left in the draw. `;
    const doubt =
      shown.perplexity < 1.05
        ? 'was all but certain'
        : `hesitated as if between ${amount(shown.perplexity)} equally likely tokens`;
    return `${rank}${draw}The model ${doubt}.`;
  }
}

customElements.define('candidate-list', CandidateList);
