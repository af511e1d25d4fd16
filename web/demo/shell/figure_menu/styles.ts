// Styles of a figure's menu.

import { css } from 'lit';

export const menuStyles = css`
  :host { display: block; font: max(15px, var(--cf-min-font-size)) / 1.45 var(--cf-sans); color: var(--cf-ink); }
  * { box-sizing: border-box; }
  h3 { margin: 14px 0 6px; font: 600 max(13px, var(--cf-min-font-size)) var(--cf-sans); }
  p { margin: 0; color: var(--cf-muted); font-size: max(13px, var(--cf-min-font-size)); }
  button { font: inherit; color: inherit; }
  .acts { display: flex; flex-wrap: wrap; gap: 6px; }
  p + .acts { margin-top: 8px; }
  .chip { border: 1px solid var(--cf-line-strong); background: none; border-radius: 999px; padding: 4px 12px; cursor: pointer; min-height: 30px; }
  .chip:hover { background: var(--cf-sunken); }
  .chip[aria-pressed='true'], .chip[aria-expanded='true'] { background: var(--cf-ink); color: var(--cf-paper); border-color: var(--cf-ink); }
  .small { padding: 2px 10px; font-size: max(13px, var(--cf-min-font-size)); min-height: 26px; }
  .numbers { list-style: none; margin: 0; padding: 0; max-height: 30vh; overflow-y: auto; }
  .numbers li { display: grid; grid-template-columns: minmax(0, 1fr) auto auto auto; gap: 8px; align-items: center; padding: 3px 0; }
  .numbers code { font: max(12px, var(--cf-min-font-size)) / 1.35 var(--cf-mono); overflow-wrap: anywhere; }
  .numbers .shape { color: var(--cf-muted); font: max(12px, var(--cf-min-font-size)) var(--cf-mono); white-space: nowrap; }
  pre, textarea { font: max(12px, var(--cf-min-font-size)) / 1.6 var(--cf-mono); margin: 8px 0; padding: 10px 12px; background: var(--cf-sunken); color: inherit; border: 0; border-radius: 8px; }
  pre { overflow-x: auto; white-space: pre; max-height: 34vh; }
  textarea { width: 100%; resize: vertical; display: block; }
  .status { min-height: 20px; margin-top: 8px; }
  :focus-visible { outline: 2px solid var(--cf-accent); outline-offset: 2px; border-radius: 4px; }
  .chip:focus-visible { border-radius: 999px; }
  @media (pointer: coarse) { .chip, .small { min-height: 40px; } }
`;
