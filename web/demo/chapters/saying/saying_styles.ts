// Styles of chapter 8.

import { css } from 'lit';

export const sayingStyles = css`
  .all { min-height: calc(600px * var(--wall)); container-type: inline-size; }
  .text { font: 24px/1.35 var(--cf-serif); letter-spacing: -0.01em; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 8px; }
  .text .new { background: var(--cf-accent-soft); border-radius: 5px; padding: 1px 3px; cursor: pointer; border: 0; font: inherit; letter-spacing: inherit; white-space: pre-wrap; }
  .text .cut { font: max(14px, var(--cf-min-font-size)) var(--cf-sans); color: var(--cf-muted); }
  .gap { display: inline-block; min-width: 1.3em; margin-left: 0.18em; border-bottom: 2px solid var(--cf-accent); }
  .controls { gap: 6px 16px; margin-bottom: 8px; }
  .controls.small { margin-bottom: 4px; gap: 6px 12px; }
  select { min-height: 34px; }
  .slider input { width: 92px; }
  .slider .value { min-width: 3ch; font-variant-numeric: tabular-nums; }
  .with-side { display: grid; grid-template-columns: minmax(0, 1fr) 300px; gap: 24px; align-items: start; }
  .with-side > * { min-width: 0; }
  .caption { font: max(18px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); margin: 0 0 4px; }
  .side .caption:not(:first-child) { margin-top: 12px; }
  table.readout { border-collapse: collapse; width: 100%; }
  table.readout td { padding: 2px 8px 2px 0; }
  table.readout td:last-child { text-align: right; }
  .stages { display: flex; align-items: flex-start; }
  .stage-names { --row: 17px; display: flex; flex-direction: column; padding: 4px 0 0 2px; font-size: max(12.5px, var(--cf-min-font-size)); line-height: var(--row); color: var(--cf-muted); }
  .stage-names span { height: var(--row); white-space: nowrap; }
  .chart { overflow: visible; margin-top: 8px; }
  .axis { stroke: var(--cf-line-strong); }
  .now { fill: var(--cf-accent); }
  .was { fill: none; stroke: var(--cf-ink); stroke-width: 1.2; }
  .gone { fill: var(--cf-muted); text-decoration: line-through; }
  .draws { display: flex; gap: 20px 48px; flex-wrap: wrap; align-items: flex-start; }
  .draws > * { min-width: 0; }
  .draws > div:first-child { max-width: 320px; }
  .draws > div:nth-child(2) { flex: 1 1 320px; max-width: 460px; }
  .draws > .wide-bars { flex: 1 1 420px; max-width: 700px; }
  .wheel { max-width: 100%; height: auto; }
  .turning { transform: rotate(var(--turn)); transform-origin: 50% 50%; }
  .turning text { transform: rotate(calc(-1 * var(--turn))); transform-box: fill-box; transform-origin: 50% 50%; }
  .pointer { fill: var(--cf-ink); }
  @media (prefers-reduced-motion: no-preference) { .turning, .turning text { transition: transform 1.2s cubic-bezier(0.15, 0.6, 0.25, 1); } }
  .rest { fill: var(--cf-sunken); }
  .slice { stroke: var(--cf-paper); stroke-width: 1.5; }
  .s0 { fill: color-mix(in srgb, var(--cf-accent) 34%, var(--cf-paper)); }
  .s1 { fill: color-mix(in srgb, var(--cf-accent) 22%, var(--cf-paper)); }
  .s2 { fill: color-mix(in srgb, var(--cf-accent) 28%, var(--cf-paper)); }
  .s3 { fill: color-mix(in srgb, var(--cf-accent) 16%, var(--cf-paper)); }
  .order { display: grid; grid-template-columns: repeat(10, auto); gap: 1px 10px; font: max(15px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); width: max-content; max-width: 100%; }
  .tree-scroll { margin-bottom: 10px; }
  .edge { fill: none; stroke: var(--cf-line-strong); stroke-width: 1.3; }
  .edge.alive { stroke: var(--cf-stream); stroke-width: 2; }
  .edge.best { stroke: var(--cf-accent); stroke-width: 3.2; }
  svg .node { font-size: max(17px, var(--cf-min-font-size)); }
  svg .node.dead { fill: var(--cf-muted); }
  svg .node.best { font-weight: 600; }
  .grids { display: flex; gap: 18px 30px; flex-wrap: wrap; align-items: flex-start; }
  .big { font: 600 44px/1.2 var(--cf-serif); }
  .large .text { font-size: calc(34px * var(--wall)); }
  .large .with-side { grid-template-columns: minmax(0, 1fr) calc(380px * var(--wall)); }
  .large .draws > .counts { max-width: none; }
  .large .draws > .wide-bars { flex: 1 1 calc(700px * var(--wall)); max-width: calc(840px * var(--wall)); }
  .large .controls { margin-bottom: 10px; }
  .large .caption { font-size: calc(25px * var(--wall)); }
  .large .side .verdict { display: none; } .large .readout td { white-space: nowrap; padding-right: 2px; }
  @media (max-width: 1000px) {
    .all { min-height: 0; }
  }
  @container (max-width: 859.9px) {
    .with-side { grid-template-columns: minmax(0, 1fr); gap: 12px; }
  }
  @media (max-width: 900px) {
    .strips { display: flex; flex-direction: column; }
    .strips .chart, .strips .verdict { order: -1; }
  }
  @media (max-width: 700px), (max-width: 900px) and (max-height: 480px) {
    .text { font-size: 20px; }
    .strips .controls { display: none; }
    .slider { font-size: 13px; } .slider > :first-child { min-width: 6em; }
    .order { grid-template-columns: repeat(6, auto); font-size: 13px; }
  }
`;
