// The page's colours for what is drawn on a canvas.

const names = ['ink', 'muted', 'future', 'surface', 'focus'] as const;

export type CanvasColours = Record<(typeof names)[number], string>;

/** Reads the custom properties that theme.css registers as colours. Costs a style pass: keep the result. */
export function canvasColours(element: Element): CanvasColours {
  const style = getComputedStyle(element);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)])) as CanvasColours;
}
