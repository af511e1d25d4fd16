// Styles of chapter 6. A head has a colour and always its index as well; the colours only separate neighbours.

import { css } from 'lit';

export const headStyles = css`
  .h0 { --head: light-dark(oklch(0.52 0.15 25), oklch(0.76 0.12 25)); }
  .h1 { --head: light-dark(oklch(0.52 0.11 70), oklch(0.78 0.12 70)); }
  .h2 { --head: light-dark(oklch(0.5 0.11 125), oklch(0.78 0.13 125)); }
  .h3 { --head: light-dark(oklch(0.5 0.1 165), oklch(0.78 0.11 165)); }
  .h4 { --head: light-dark(oklch(0.5 0.1 215), oklch(0.76 0.11 215)); }
  .h5 { --head: light-dark(oklch(0.5 0.14 260), oklch(0.74 0.12 260)); }
  .h6 { --head: light-dark(oklch(0.5 0.16 305), oklch(0.76 0.12 305)); }
  .h7 { --head: light-dark(oklch(0.52 0.16 350), oklch(0.76 0.13 350)); }
  .all { min-width: 0; min-height: calc(590px * var(--wall)); container-type: inline-size; }
  .controls { gap: 6px 22px; margin-bottom: 10px; }
  .with-odds { display: grid; grid-template-columns: minmax(0, 1fr) 262px; gap: 24px; align-items: start; }
  .heads { display: grid; gap: 6px 14px; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); }
  .head { min-width: 0; border-top: 3px solid var(--head); padding-top: 3px; }
  .head.off cf-matrix { opacity: 0.28; }
  .name-row { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; min-height: 30px; }
  .name { border: 0; background: none; padding: 3px 7px; border-radius: 6px; cursor: pointer; min-height: 28px; white-space: nowrap; }
  .name:hover { background: var(--cf-sunken); }
  .name[aria-pressed='true'] { background: var(--cf-ink); color: var(--cf-paper); }
  .habit { color: var(--cf-muted); font-size: max(12px, var(--cf-min-font-size)); line-height: 1.15; display: block; min-height: 2.3em; }
  .lower { display: flex; gap: 20px 44px; flex-wrap: wrap; align-items: flex-start; margin-top: 10px; }
  .lower > *, .grids > * { min-width: 0; max-width: 100%; }
  .caption { font: max(18px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); margin: 0 0 2px; }
  .odds .caption { margin-bottom: 6px; }
  .odds .plain { padding-left: 0; }
  .said { min-height: 22px; color: var(--cf-muted); font-variant-numeric: tabular-nums; margin-top: 6px; }
  .product { display: grid; grid-template-columns: auto auto; gap: 6px 26px; justify-content: start; align-items: end; }
  .product > * { min-width: 0; }
  .bands { display: flex; height: max(15px, 1.15 * var(--cf-min-font-size)); margin: 0 8px 2px 8px; font: 600 max(11px, var(--cf-min-font-size)) / max(15px, var(--cf-min-font-size)) var(--cf-sans); }
  .bands span { border-bottom: 3px solid var(--head); color: var(--head); text-align: center; flex: none; overflow: hidden; height: max(15px, 1.15 * var(--cf-min-font-size)); }
  .side { display: flex; align-items: flex-end; }
  .names { --row: 15px; font-family: var(--cf-serif); font-size: max(13.5px, var(--cf-min-font-size)); line-height: var(--row); padding: 0 0 27px 4px; display: flex; flex-direction: column; }
  .names span { height: var(--row); white-space: nowrap; }
  .names .here { font-weight: 600; color: var(--cf-q); }
  .term { color: var(--head); }
  .large-number { font: 600 44px/1.2 var(--cf-serif); font-variant-numeric: tabular-nums; }
  .tall { display: flex; flex-direction: column; font: 600 max(11px, var(--cf-min-font-size)) / 1 var(--cf-sans); padding-bottom: 4px; }
  .tall span { border-left: 3px solid var(--head); color: var(--head); padding-left: 4px; display: grid; align-items: center; overflow: hidden; flex: none; }
  .ranked { list-style: none; margin: 0; padding: 0; }
  .grids { display: flex; gap: 18px 40px; flex-wrap: wrap; }
  .large .with-odds.maps { grid-template-columns: minmax(0, 1fr) calc(520px * var(--wall)); gap: 4px calc(40px * var(--wall)); }
  .large .maps > div:first-child { display: contents; }
  .large .maps .heads { grid-column: 1 / -1; }
  .large .maps .lower { margin: 0; }
  .large .maps .said { display: none; }
  .large .with-odds { grid-template-columns: minmax(0, 1fr) calc(340px * var(--wall)); gap: calc(24px * var(--wall)); }
  .large .with-odds.spare { grid-template-columns: minmax(0, 1fr); }
  .large .grids { display: grid; grid-template-columns: repeat(2, minmax(0, max-content)); gap: 4px calc(30px * var(--wall)); }
  .large .said { min-height: calc(34px * var(--wall)); }
  .large .names span:not(.here) { visibility: hidden; }
  .large .odds .readout, .large .odds .verdict { display: none; }
  .large .habit { line-height: 1.1; min-height: 2.2em; }
  .every { display: grid; grid-template-columns: minmax(0, calc(var(--wide) + 34px)) minmax(0, 340px); gap: 20px 40px; align-items: start; }
  .every-maps { display: grid; grid-template-columns: 30px minmax(0, var(--wide)); gap: 2px 4px; color: var(--cf-muted); font-variant-numeric: tabular-nums; }
  .across { grid-column: 2; display: grid; grid-template-columns: repeat(var(--heads), 1fr); justify-items: center; }
  .down { display: grid; grid-auto-rows: 1fr; align-items: center; justify-items: end; padding-right: 4px; }
  .ways { display: flex; flex-wrap: wrap; gap: 4px 14px; }
  .ways .plain { padding-left: 0; text-decoration: none; }
  .large .every { grid-template-columns: minmax(0, calc(var(--wide) + 34px)) minmax(0, calc(440px * var(--wall))); }
  select { min-height: 34px; max-width: 100%; }
  @media (max-width: 900px) {
    .odds { order: -1; }
    .odds .verdict, .odds .readout { display: none; }
    .name-row { flex-direction: column; align-items: flex-start; gap: 2px; } }
  @media (max-width: 1000px) {
    .all { min-height: 0; }
    .with-odds { grid-template-columns: minmax(0, 1fr); gap: 12px; }
  }
  @container (max-width: 699px) {
    .lower > * { width: 100%; }
    .every, .large .every { grid-template-columns: minmax(0, 1fr); }
    .product { display: flex; flex-direction: column; align-items: flex-start; }
  }
`;
