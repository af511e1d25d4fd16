// Styles of the view in which a model is trained.

import { css } from 'lit';

export const trainingStyles = css`
  .training { display: grid; grid-template: auto auto 1fr / minmax(0, 1fr) auto; gap: 6px 44px; align-items: start; }
  .training > .right { grid-row: span 2; }
  .training > .rest { grid-column: 1; }
  .training p.acts > span { width: 100%; }
  .training .acts { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; }
  .training .primary { min-width: 112px; }
  .training .top { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 8px 26px; align-items: center; }
  .training .settings { display: flex; flex-wrap: wrap; gap: 8px 26px; align-items: center; }
  .training input[type='number'] { width: 76px; }
  .training .caption { font-size: max(16px, var(--cf-min-font-size)); margin: 0; }
  .training .pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 20px; align-items: end; }
  .training .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0 18px; margin: 0; padding: 0; color: var(--cf-muted); font-variant-numeric: tabular-nums; }
  .training .legend i { display: inline-block; width: 14px; border-top: 3px solid var(--head); margin-right: 6px; vertical-align: middle; }
  .training .legend .guess i { border-top: 2px dashed var(--cf-muted); }
  .training .first { --head: var(--cf-stream); }
  .training .second { --head: var(--cf-accent); }
  .training .legend b { color: var(--cf-ink); font-weight: 600; }
  .training .every-head { display: grid; grid-template-columns: repeat(2, auto); gap: 6px 18px; justify-content: start; }
  .training .habit { min-height: 0; }
  .training .habit span + span::before { content: '· '; }
  .training .lower { display: flex; flex-wrap: wrap; gap: 8px 30px; align-items: flex-start; margin-top: 6px; }
  .training .lower > div { flex: 1 1 300px; min-width: 0; }
  .training .lower .readout + .readout { margin-top: 6px; }
  .training .said { min-height: 22px; max-width: 500px; }
  .large .training { gap: 4px calc(44px * var(--wall)); }
  .large .training .pair, .large .training .lower > .told, .large .training .rate, .large .training .seed, .large .training .switch, .large .training .said { display: none; }
  .large .training .name-row { min-height: 0; }
  @media (max-width: 1000px) {
    .training { grid-template-columns: minmax(0, 1fr); gap: 12px; }
    .training > .right { grid-row: auto; } }
  @media (max-width: 700px) {
    .training .top { display: contents; }
    .training .settings { order: 1; }
    .training .settings select { max-width: none; }
    .training .name-row { flex-direction: row; }
    .training .habit span { display: block; }
    .training .habit span + span::before { content: none; }
    .training .legend { gap: 0 12px; } }
`;
