// Styles shared by the figures: labels, controls, read-outs, visually hidden text, the colours of the reader's system.

import { css } from 'lit';

/**
 * Where the reader's system sets the colours there are no backgrounds and shadows: pictures keep theirs, a choice has
 * an outline.
 */
export const forcedColours = css`
  @media (forced-colors: active) {
    canvas, .legend :is(i, span), .bands, .tall, .track, .samples { forced-color-adjust: none; }
    :where(button[aria-pressed='true']) { outline: 2px solid Highlight; }
    :is(.seg button, .chip, .box, .name)[aria-pressed='true'] { forced-color-adjust: none; background: Highlight; color: HighlightText; }
    .primary { border: 1px solid; }
    .switch input { forced-color-adjust: none; background: Canvas; box-shadow: inset 0 0 0 1.5px CanvasText; }
    .switch input::after { background: CanvasText; }
    .switch input:checked { background: Highlight; }
    .switch input:checked::after { background: HighlightText; }
  }
`;

/** As in theme.css, which is for what has no shadow root. */
export const visuallyHidden = css`
  .sr-only { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

export const figureStyles = css`
  :host { display: block; font: max(15px, var(--cf-min-font-size)) / 1.45 var(--cf-sans); color: var(--cf-ink); }
  * { box-sizing: border-box; }
  p { margin: 0; }
  button, input, select, textarea { font: inherit; color: inherit; }
  .q { color: var(--cf-q); } .k { color: var(--cf-k); } .v { color: var(--cf-v); } .s { color: var(--cf-stream); } .a { color: var(--cf-accent); }
  .wrong { color: var(--cf-wrong); }
  .muted { color: var(--cf-muted); }
  .number { font-variant-numeric: tabular-nums; }
  code, .shape { font: max(12px, var(--cf-min-font-size)) var(--cf-mono); }
  .serif { font-family: var(--cf-serif); }
  .waiting { color: var(--cf-muted); padding: 48px 0; text-align: center; }
  @media (max-width: 900px) { .waiting { min-height: calc(var(--upper) - 19px); } } /* of most figures there: the text stays where it is */
  .failed { border-left: 3px solid var(--cf-wrong); padding: 8px 16px; margin: 32px 0; display: grid; gap: 6px; max-width: 70ch; overflow-wrap: anywhere; }
  .failed b { color: var(--cf-wrong); }
  .not-here { padding-top: 6px; display: flex; gap: 4px 14px; flex-wrap: wrap; align-items: center; margin-bottom: 10px; font-size: max(14px, var(--cf-min-font-size)); color: var(--cf-muted); overflow-wrap: anywhere; }
  .controls { display: flex; gap: calc(10px * var(--wall)) 26px; flex-wrap: wrap; align-items: center; margin-bottom: calc(14px * var(--wall)); }
  .seg { display: inline-flex; flex-wrap: wrap; gap: 2px; align-items: center; color: var(--cf-muted); border: 0; padding: 0; margin: 0; }
  .seg > span, .seg legend { margin-right: 8px; padding: 0; float: left; }
  .seg button { border: 0; background: none; padding: calc(4px * var(--wall)) 10px; border-radius: 6px; cursor: pointer; min-height: calc(30px * var(--wall)); font-variant-numeric: tabular-nums; color: var(--cf-muted); }
  .seg button:hover { color: var(--cf-ink); }
  .seg button[aria-pressed='true'] { background: var(--cf-ink); color: var(--cf-paper); }
  .chip { border: 1px solid var(--cf-line-strong); background: none; border-radius: 999px; padding: calc(4px * var(--wall)) 12px; cursor: pointer; min-height: calc(30px * var(--wall)); }
  a { color: var(--cf-accent); }
  a.chip { display: inline-block; color: inherit; text-decoration: none; }
  .chip:hover { background: var(--cf-sunken); }
  .chip[aria-pressed='true'] { background: var(--cf-ink); color: var(--cf-paper); border-color: var(--cf-ink); }
  .plain { border: 0; background: none; padding: 5px 9px; border-radius: 7px; cursor: pointer; color: var(--cf-accent); min-height: 30px; }
  .plain:hover { background: var(--cf-sunken); }
  .primary { border: 0; background: var(--cf-ink); color: var(--cf-paper); border-radius: 10px; padding: 9px 20px; font-weight: 550; cursor: pointer; min-height: 40px; }
  .primary:hover { background: color-mix(in srgb, var(--cf-ink) 86%, var(--cf-paper)); }
  button:disabled { opacity: 0.45; cursor: default; }
  .switch { display: inline-flex; gap: 9px; align-items: center; cursor: pointer; }
  .switch input { appearance: none; width: 34px; height: 20px; border-radius: 20px; background: var(--cf-line-strong); margin: 0; position: relative; cursor: pointer; flex: none; }
  .switch input::after { content: ''; position: absolute; width: 16px; height: 16px; border-radius: 50%; background: var(--cf-paper); top: 2px; left: 2px; }
  .switch input:checked { background: var(--cf-accent); }
  .switch input:checked::after { left: 16px; }
  .slider { display: inline-flex; gap: 9px; align-items: center; }
  input[type='range'] { accent-color: var(--cf-ink); min-width: 90px; }
  input[type='text'], input[type='number'], select, textarea { min-height: 34px; padding: 0 10px; border: 1px solid var(--cf-line-strong); border-radius: 8px; background: var(--cf-raised); }
  textarea { padding: 7px 10px; }
  .readout { color: var(--cf-muted); font-variant-numeric: tabular-nums; }
  .readout b { color: var(--cf-ink); font-weight: 600; }
  .verdict { margin: calc(8px * var(--wall)) 0 0; font-size: max(14px, var(--cf-min-font-size)); color: var(--cf-muted); }
  .verdict b { color: var(--cf-ink); font-weight: 600; }
  .sideways { overflow-x: auto; animation: fade-while-more linear both; animation-timeline: scroll(self inline); }
  @keyframes fade-while-more { from, 99% { mask-image: linear-gradient(to left, transparent, black 32px); } }
  svg { display: block; }
  svg text { font-family: var(--cf-sans); fill: var(--cf-ink); font-variant-numeric: tabular-nums; font-size: max(12.5px, var(--cf-min-font-size)); }
  svg .muted { fill: var(--cf-muted); }
  svg .serif { font-family: var(--cf-serif); font-size: max(14.5px, var(--cf-min-font-size)); }
  :focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 2px; border-radius: 4px; }
  ${visuallyHidden}
  @media (prefers-reduced-motion: no-preference) { .switch input { transition: background 0.2s; } .switch input::after { transition: left 0.2s; } }
  ${forcedColours}
`;
