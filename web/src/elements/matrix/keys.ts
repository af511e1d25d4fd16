// Keyboard navigation between cells.

import type { Cell } from '../numbers.js';

const page = 10; // rows

/** The next cell for a key, undefined for keys that do not move. */
export function movedBy(
  { key, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>,
  { row, column }: Cell,
  { rows, columns }: { rows: number; columns: number },
): Cell | undefined {
  const all = ctrlKey || metaKey;
  const moves: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [all ? 0 : row, 0],
    End: [all ? rows - 1 : row, columns - 1],
    PageUp: [row - page, column],
    PageDown: [row + page, column],
  };
  const to = moves[key];
  if (to === undefined || (all && key !== 'Home' && key !== 'End')) return undefined;
  const within = (place: number, count: number): number => Math.max(0, Math.min(count - 1, place));
  return { row: within(to[0], rows), column: within(to[1], columns) };
}
