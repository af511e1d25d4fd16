// Styles of chapter 3's figure.

import { css } from 'lit';

export const whereStyles = css`
  .views { margin-bottom: 10px; flex-wrap: wrap; }
  .rulers { margin: 8px 0 10px; }
  .rulers i { font: italic max(18px, var(--cf-min-font-size)) var(--cf-serif); }
  .rulers .a input { accent-color: var(--cf-accent); }
  .slider.q input { accent-color: var(--cf-q); } .slider.k input { accent-color: var(--cf-k); }
  .slider b { font-weight: 400; min-width: 1.4em; }
  .panel { display: grid; grid-template-columns: auto 1fr; gap: 6px 26px; align-items: center; min-height: 148px; }
  .algebra { display: flex; align-items: center; gap: 8px 12px; font: max(18px, var(--cf-min-font-size)) var(--cf-serif); font-variant-numeric: tabular-nums; flex-wrap: wrap; }
  .algebra .verdict { margin: 0 0 0 8px; font-family: var(--cf-sans); max-width: 15em; }
  .algebra .off b { color: var(--cf-wrong); }
  .algebra b { font-weight: 600; }
  .factor { margin-left: 10px; }
  .verdict i { font-family: var(--cf-serif); font-size: 1.08em; }
  .verdict code { overflow-wrap: anywhere; }
  .dials { display: flex; flex-wrap: wrap; gap: 10px 26px; margin: 6px 0 4px; }
  figure { margin: 0; text-align: center; } figcaption { font: max(15px, var(--cf-min-font-size)) var(--cf-serif); } figcaption b { margin-left: 6px; font-weight: 600; }
  sub { font-size: 0.7em; }
  .big { font: 24px/1.3 var(--cf-serif); margin: 8px 0 10px; font-variant-numeric: tabular-nums; }
  .rows { display: flex; flex-wrap: wrap; gap: 4px 40px; } .rows cf-matrix { min-width: 260px; }
  where-scores { margin-top: 6px; }
  .biases { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 16px 28px; align-items: end; }
  .similar { display: grid; grid-template-columns: auto minmax(120px, 1fr); gap: 20px; align-items: start; margin-top: 10px; }
  .large .views, .large .controls { display: inline-flex; vertical-align: top; gap: 8px 16px; margin: 0 14px 8px 0; } .large .views { gap: 2px; } .large .rulers { display: flex; margin: 4px 0 6px; }
  .large .rows cf-matrix { min-width: calc(560px * var(--wall)); }
  .large .tables { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 calc(34px * var(--wall)); align-items: start; } .large .similar { margin: 0; }
  .large .algebra { font-size: calc(26px * var(--wall)); } .large .verdict { line-height: 1.3; } .large .big { font-size: calc(34px * var(--wall)); }
  .large .rulers i { font-size: calc(26px * var(--wall)); }
  @media (max-width: 900px) {
    .controls { gap: 4px 14px; margin-bottom: 6px; font-size: 14px; }
    .views button { padding: 3px 7px; font-size: 13.5px; } .views { margin-bottom: 4px; }
    .panel .dial { display: none; } .panel { grid-template-columns: 1fr; min-height: 0; }
    .rulers { flex-wrap: nowrap; white-space: nowrap; margin: 2px 0 6px; } .rulers .muted { flex: none; max-width: 5em; white-space: normal; overflow-wrap: anywhere; line-height: 1.1; }
    .rulers .slider { min-width: 0; } .rulers input[type='range'] { width: 84px; min-width: 40px; flex-shrink: 1; }
  }
  @media (max-width: 600px) {
    .algebra { font-size: 15px; gap: 7px; } .algebra .verdict { font-size: 12px; margin: 0; max-width: 7.4em; } .verdict.under { display: none; }
    .rows { display: none; } .dials { gap: 4px 8px; } .dials svg { width: 78px; height: 78px; } figcaption { font-size: 13px; } .big { font-size: 18px; margin: 4px 0; }
    .similar { gap: 4px; }
  }
`;
