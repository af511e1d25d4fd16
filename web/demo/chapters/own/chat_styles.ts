// Styles of the chat.

import { css } from 'lit';

export const chatStyles = css`
  form, details > label { display: grid; gap: 6px; }
  label { display: grid; gap: 3px; color: var(--cf-muted); }
  textarea { width: 100%; resize: vertical; font: max(17px, var(--cf-min-font-size)) / 1.5 var(--cf-serif); color: var(--cf-ink); }
  textarea:focus-visible, input:focus-visible { outline-offset: -2px; }
  details { margin-bottom: 12px; }
  summary { cursor: pointer; padding: 4px 0; }
  .settings { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 220px), 1fr)); gap: 10px 16px; margin-top: 10px; align-items: end; }
  .settings input { width: 100%; color: var(--cf-ink); }
  .log { display: grid; gap: 12px; margin: 12px 0; }
  article { max-width: 100%; padding: 8px 14px; border-radius: 12px; overflow-wrap: anywhere; }
  article.user { background: var(--cf-sunken); margin-left: min(10%, 60px); }
  article.assistant { border: 1px solid var(--cf-line); margin-right: min(10%, 60px); }
  article.out { border: 1px dashed var(--cf-line-strong); background: none; }
  article.out .said { color: var(--cf-muted); }
  .who { color: var(--cf-muted); font-size: max(13px, var(--cf-min-font-size)); }
  .said { font: max(17px, var(--cf-min-font-size)) / 1.5 var(--cf-serif); white-space: pre-wrap; }
  .note, .hint, .use { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); }
  .row { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; }
  .use { margin-top: 10px; font-variant-numeric: tabular-nums; }
  .failed { margin: 12px 0; }
  meter { display: block; width: min(420px, 100%); height: 12px; margin-top: 4px; }
`;
