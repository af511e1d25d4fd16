// Styles of chapter 7.

import { css } from 'lit';

export const blockStyles = css`
  .all { min-height: calc(600px * var(--wall)); container-type: inline-size; }
  .controls { gap: 6px 22px; margin-bottom: 8px; }
  .controls.small { margin-bottom: 6px; }
  select { min-height: 34px; max-width: 100%; }
  .diagram { position: relative; margin: 0 0 8px; }
  .diagram svg { position: absolute; inset: 0; }
  .ribbon { fill: color-mix(in srgb, var(--cf-stream) 22%, var(--cf-paper)); }
  @media (prefers-reduced-motion: no-preference) { .ribbon { transition: d 0.25s; } }
  .wire { fill: none; stroke: var(--cf-stream); stroke-width: 1.6; }
  .wire.cut { stroke-dasharray: 3 5; opacity: 0.5; }
  .sum { fill: var(--cf-paper); stroke: var(--cf-stream); stroke-width: 1.6; }
  .plus { stroke: var(--cf-stream); stroke-width: 1.8; }
  .box { position: absolute; border: 1.6px solid var(--cf-stream); background: var(--cf-raised); border-radius: 8px; padding: 0 4px; cursor: pointer; font: max(14.5px, var(--cf-min-font-size)) / 1.15 var(--cf-sans); }
  .box:hover { background: var(--cf-sunken); }
  .box.stream { border-radius: 999px; font-size: max(13px, var(--cf-min-font-size)); border-width: 1px; }
  .box.norm { border-style: dashed; }
  .box.out { border-color: var(--cf-line-strong); color: var(--cf-muted); text-decoration: line-through; }
  .box[aria-pressed='true'] { background: var(--cf-ink); color: var(--cf-paper); border-color: var(--cf-ink); }
  .diagram .switch { position: absolute; }
  .diagram .switch input { transform: scale(0.82); transform-origin: right top; }
  .with-odds { display: grid; grid-template-columns: minmax(0, 1fr) 262px; gap: 24px; align-items: start; }
  .opened { min-width: 0; }
  .caption { font: max(18px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); margin: 0 0 2px; }
  .odds .caption { margin-bottom: 6px; }
  .odds .plain { padding-left: 0; }
  .side-by-side { display: flex; gap: 14px calc(34px * var(--wall)); flex-wrap: wrap; align-items: flex-end; }
  .side-by-side.level { align-items: flex-start; }
  .side-by-side > * { min-width: 0; }
  .orders :is(.caption, .readout) { contain: inline-size; }
  .rest { flex: 1 1 340px; }
  .down { margin-bottom: 17px; }
  .plot { overflow: visible; }
  .axis { stroke: var(--cf-line-strong); fill: none; }
  .curve { fill: none; stroke: var(--cf-line-strong); stroke-width: 1.2; }
  .curve.on { stroke: var(--cf-ink); stroke-width: 2; }
  .curve.post { stroke: var(--cf-stream); stroke-dasharray: 6 4; }
  .curve.pre { stroke: var(--cf-accent); }
  .dot { fill: var(--cf-accent); fill-opacity: 0.45; stroke: var(--cf-accent); stroke-width: 0.8; cursor: pointer; }
  .dot.here { fill: var(--cf-ink); fill-opacity: 1; stroke: var(--cf-ink); }
  .with-odds.weights { grid-template-columns: minmax(0, 1fr) 330px; }
  .inventory { display: grid; grid-template-columns: max-content minmax(0, 1fr); grid-auto-rows: min-content; gap: 10px calc(34px * var(--wall)); }
  .inventory .mlp { grid-column: 2; grid-row: 1 / span 3; }
  .inventory :is(.attention, .cross, .norm) { grid-column: 1; }
  .layers { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: flex-start; }
  .inventory figure { margin: 0; min-width: 0; max-width: 100%; }
  .counted { font-variant-numeric: tabular-nums; margin-bottom: 4px; }
  .inventory figcaption { display: grid; font-size: max(12.5px, var(--cf-min-font-size)); line-height: 1.3; font-variant-numeric: tabular-nums; padding-left: 8px; }
  .frame { border: 1.6px solid var(--cf-stream); max-width: 100%; }
  .large-number { font: 600 44px/1.2 var(--cf-serif); }
  .large .caption { font-size: calc(25px * var(--wall)); }
  .large .with-odds, .large .with-odds.weights { grid-template-columns: minmax(0, 1fr) calc(440px * var(--wall)); }
  .large .inventory :is(.norm, figcaption .muted) { display: none; }
  .large .layers { gap: 8px; }
  .large .box { line-height: 1.05; }
  @media (max-width: 900px) { .box { font-size: 13px; padding: 0 1px; } .orders > :last-child { order: -1; } }
  .large .rule { display: none; }
  .large .orders { flex-wrap: nowrap; } .large .orders > :first-child { flex: 0 1 calc(620px * var(--wall)); } .large .orders > :last-child { flex: none; }
  .large .odds .readout { display: none; }
  @media (max-width: 1000px) {
    .all { min-height: 0; }
    .with-odds, .with-odds.weights { grid-template-columns: minmax(0, 1fr); gap: 12px; }
    .weights .odds { order: -1; }
  }
  @container (max-width: 1099px) {
    .inventory { display: flex; flex-wrap: wrap; }
  }
  @media (max-width: 700px) {
    .odds .readout { display: none; }
  }
`;
