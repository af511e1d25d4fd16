// Styles of chapter 9.

import { css } from 'lit';

export const translateStyles = css`
  .given { display: flex; gap: 8px 12px; flex-wrap: wrap; align-items: center; margin-bottom: 14px; }
  .given textarea { flex: 1 1 160px; min-width: 0; font: max(17px, var(--cf-min-font-size)) / 1.4 var(--cf-serif); min-height: 40px; max-height: 9.2em; field-sizing: content; resize: vertical; }
  .told { color: var(--cf-wrong); font-size: max(14px, var(--cf-min-font-size)); margin: 0 0 10px; }
  .told.note { color: var(--cf-muted); }
  .parts { display: grid; grid-template-columns: minmax(0, 1fr) minmax(250px, 340px); gap: calc(40px * var(--wall)); margin-top: 18px; align-items: start; }
  .parts.full { grid-template-columns: minmax(0, 1fr); }
  .panel { min-width: 0; overflow-x: auto; }
  .steps-row { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; margin: 12px 0 0; }
  .steps-row input { flex: 0 1 260px; }
  .line { display: flex; gap: calc(26px * var(--wall)); align-items: flex-start; flex-wrap: wrap; }
  .cross { display: grid; grid-template-columns: max-content max-content max-content; gap: 6px 26px; align-items: start; justify-items: end; }
  .heads { display: flex; gap: 8px 24px; flex-wrap: wrap; margin-bottom: 8px; }
  .so-far { font: 26px/1.4 var(--cf-serif); margin: 0 0 12px; }
  .so-far .new { color: var(--cf-q); }
  .so-far .gap { display: inline-block; min-width: 2em; border-bottom: 2px solid var(--cf-accent); color: var(--cf-accent); }
  .both { display: grid; grid-template-columns: minmax(0, 1fr); gap: 16px; }
  .both div { display: grid; grid-template-columns: 90px minmax(0, 1fr) max-content; gap: 16px; align-items: baseline; }
  .both .text { font: 24px/1.35 var(--cf-serif); overflow-wrap: anywhere; }
  .note { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); max-width: 68ch; margin-top: 10px; }
  .large .note { display: none; }
  .large .given { margin: 0; } .large .given > :not(.plain) { display: none; }
  .large .parts:not(.full) { margin-top: 8px; grid-template-columns: minmax(0, 1fr) calc(360px * var(--wall)); }
  .large .parts.full { margin-top: 8px; }
  .large .steps-row { margin-top: 6px; }
  .large .line { flex-wrap: nowrap; } .large .line > * { min-width: 0; } .large .line > :first-child { flex: none; }
  .large .heads { margin-bottom: 4px; } .large .so-far { margin: 0 0 4px; }
  .large .both div { grid-template-columns: calc(140px * var(--wall)) minmax(0, 1fr) max-content; }
  .large.view-cross text-faces { display: none; }
  .large .so-far, .large .both .text { font-size: calc(34px * var(--wall)); }
  @media (max-width: 900px) {
    .parts { grid-template-columns: minmax(0, 1fr); gap: 16px; margin-top: 12px; }
    .both div { grid-template-columns: minmax(0, 1fr); gap: 2px; }
    .so-far { font-size: 21px; }
    .view-read .given, .view-cross .given, .view-map .given, .view-beams .given { display: none; }
    .view-read text-faces, .view-cross text-faces, .view-map text-faces, .view-beams text-faces { display: none; }
    .steps-row { margin-top: 4px; }
  }
`;
