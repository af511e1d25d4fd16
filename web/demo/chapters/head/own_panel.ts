// The form for the reader's own Q, K and V.

import { css, html, type TemplateResult } from 'lit';
import { fieldKey } from '../../book/field_keys.js';
import { matrixText, type OwnMatrices, ownText, parseOwn } from './own_matrices.js';

export const ownStyles = css`
  .own { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 10px 20px; margin: 8px 0 12px; }
  .own label { display: grid; gap: 4px; font: italic max(18px, var(--cf-min-font-size)) var(--cf-serif); }
  .own textarea { font: max(13px, var(--cf-min-font-size)) / 1.5 var(--cf-mono); min-height: 120px; resize: vertical; white-space: pre; overflow: auto; width: 100%; }
  .own .row { grid-column: 1 / -1; display: flex; gap: 10px 18px; flex-wrap: wrap; align-items: center; }
  @media (max-width: 700px) { .own { grid-template-columns: 1fr; } .own textarea { min-height: 76px; } }
`;

interface OwnRequest {
  /** The initial values of the fields. */
  readonly matrices: OwnMatrices;
  readonly causal: boolean;
  /** The error of the last attempt. */
  readonly problem: string;
  readonly labels: Readonly<Record<string, string>>;
  use(text: string, causal: boolean): void;
  fail(problem: string): void;
  close(): void;
}

export function ownPanel({ matrices, causal, problem, labels, use, fail, close }: OwnRequest): TemplateResult {
  const submit = (event: Event): void => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = ['Q', 'K', 'V'].map((name) => String(data.get(name) ?? '').replaceAll('|', ' ')).join('|');
    try {
      use(ownText(parseOwn(text)), data.get('causal') !== null);
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  };
  const leave = (event: KeyboardEvent): void => {
    if (fieldKey(event) === 'leave') close();
  };
  return html`<form class="own" @submit=${submit} @keydown=${leave}>
    ${(['Q', 'K', 'V'] as const).map((name) => html`<label><span class=${name.toLowerCase()}>${name}</span><textarea name=${name} spellcheck="false" autocomplete="off" aria-label="${name}: ${labels.ownField}" .value=${matrixText(matrices[name], '\n')}></textarea></label>`)}
    <div class="row">
      <button class="primary">${labels.useOwn}</button>
      <label class="switch"><input type="checkbox" name="causal" .checked=${causal} /> ${labels.causal}</label>
      <button type="button" class="plain" @click=${close}>${labels.close}</button>
      <span class="muted">${labels.ownHint}</span>
      ${problem === '' ? '' : html`<span class="wrong" role="alert">${problem}</span>`}
    </div>
  </form>`;
}
