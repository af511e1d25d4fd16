// Styles that several components share: cards, buttons, fields, columns, text for screen readers.

import { css } from 'lit';

export const shared = css`
  :host { display: block; }
  * { box-sizing: border-box; }
  h2, h3, p { margin: 0; }
  h2 { font-size: 1.05rem; font-weight: 650; letter-spacing: -0.005em; }
  h3 { font-size: 0.87rem; font-weight: 650; }
  .card {
    background: var(--surface);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    padding: 16px 18px;
  }
  .hint { color: var(--muted); font-size: 0.87rem; }
  .number { font-variant-numeric: tabular-nums; }
  code { font-family: var(--font-code); font-size: 0.92em; }
  button, input, select, textarea { font: inherit; color: inherit; }
  button {
    min-height: 36px;
    padding: 0 14px;
    border: 1px solid var(--line-strong);
    border-radius: 9px;
    background: var(--surface);
    font-weight: 550;
    cursor: pointer;
  }
  button:hover:not(:disabled) { background: var(--sunken); }
  button:disabled { opacity: 0.45; cursor: default; }
  button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
  button.primary:hover:not(:disabled) { background: color-mix(in oklab, var(--accent) 88%, var(--ink)); }
  button.plain { border-color: transparent; background: none; padding: 0 8px; }
  input[type='text'], input[type='number'], select, textarea {
    min-height: 36px;
    padding: 0 10px;
    border: 1px solid var(--line-strong);
    border-radius: 9px;
    background: var(--surface);
  }
  textarea { padding: 7px 10px; }
  input[type='range'] { accent-color: var(--accent); }
  input[type='checkbox'] { accent-color: var(--accent); }
  :is(button, input, select, textarea, summary, a, [tabindex]):focus-visible {
    outline: 2px solid var(--focus);
    outline-offset: 2px;
  }
  .segments { display: inline-flex; border: 1px solid var(--line-strong); border-radius: 9px; overflow: clip; }
  .segments button { border: 0; border-radius: 0; min-height: 34px; padding: 0 12px; font-size: 0.87rem; }
  .segments button[aria-pressed='true'] { background: var(--accent-soft); color: var(--accent); }
  .segments button:focus-visible { outline-offset: -3px; }
  .sr-only {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (max-width: 560px) {
    .card { padding: 14px; }
  }
`;

/** Texts beside the card of their attention, below each other on narrow screens. */
export const columns = css`
  .columns { display: grid; grid-template-columns: minmax(0, 10fr) minmax(0, 19fr); gap: var(--gap); align-items: start; }
  .column { display: grid; gap: var(--gap); }
  attention-panel { position: sticky; top: 12px; }
  @media (max-width: 960px) {
    .columns { grid-template-columns: minmax(0, 1fr); }
    attention-panel { position: static; }
  }
`;
