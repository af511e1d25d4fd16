// A list with a single tab stop: arrow keys move, Enter or Space selects.

import { type CSSResult, css } from 'lit';

/** The effect of a key in a list: move to an option, select the current one, or nothing. */
type ListKey = { readonly to: number } | 'choose' | undefined;

function listKey(event: KeyboardEvent, at: number, count: number): ListKey {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    Home: 0,
    End: count - 1,
  };
  const to = moves[event.key];
  if (to !== undefined) return { to: Math.max(0, Math.min(count - 1, to)) };
  return event.key === 'Enter' || event.key === ' ' ? 'choose' : undefined;
}

/**
 * Answers a key in a list of `count` options: moves to one, or has the current one chosen, the last of a list that has
 * become shorter.
 */
export function answerKey(
  event: KeyboardEvent,
  list: { active: number },
  count: number,
  choose: (index: number) => void,
): void {
  const at = Math.min(list.active, count - 1);
  const key = listKey(event, at, count);
  if (key === undefined) return;
  event.preventDefault();
  if (key === 'choose') choose(at);
  else list.active = key.to;
}

/** @internal */
export const listStyles: CSSResult = css`
  [role='listbox'] {
    outline: none;
  }
  [role='option'] {
    cursor: pointer;
    -webkit-tap-highlight-color: transparent;
  }
  [role='listbox']:focus-visible .at {
    outline: 2px solid var(--_accent);
    outline-offset: 2px;
  }
`;
