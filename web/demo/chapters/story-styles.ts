// Layout of the story chapter: text and candidates beside the attention card, below each other on narrow screens.
import { css } from 'lit';

export const storyStyles = css`
  :host { display: grid; gap: var(--gap); }
  .columns { display: grid; grid-template-columns: minmax(0, 10fr) minmax(0, 19fr); gap: var(--gap); align-items: start; }
  .column { display: grid; gap: var(--gap); }
  attention-panel { position: sticky; top: 12px; }
  .title { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 2px 12px; align-items: baseline; }
  token-strip { margin: 10px 0 8px; min-height: 15.2rem; max-height: 25rem; }
  .candidates { min-height: 24rem; }
  error-note { margin-bottom: 10px; }
  .caption { border-top: 1px solid var(--line); padding-top: 8px; min-height: 3.4em; }
  .caption button { min-height: 24px; font-size: inherit; color: var(--accent); }
  .name { font-family: var(--font-code); font-size: 0.92em; color: var(--ink); padding: 1px 4px; border-radius: 5px; background: var(--sunken); white-space: pre; }
  candidate-list { margin-top: 10px; }
  @media (max-width: 960px) {
    .columns { grid-template-columns: minmax(0, 1fr); }
    attention-panel { position: static; }
    token-strip { min-height: 8rem; max-height: 17rem; }
  }
`;
