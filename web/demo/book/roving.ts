// A roving tabindex: buttons in rows and columns with one tab stop, navigated by arrow keys.

/** Moves the focus on an arrow key; returns whether it did. */
export function rove(event: KeyboardEvent, buttons: readonly HTMLElement[], columns: number): boolean {
  const at = buttons.indexOf(event.target as HTMLElement);
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const ends: Record<string, number> = { Home: -at, End: buttons.length - 1 - at };
  const step = steps[event.key] ?? ends[event.key];
  if (step === undefined || at < 0) return false;
  event.preventDefault();
  event.stopPropagation();
  buttons[at + step]?.focus();
  return true;
}
