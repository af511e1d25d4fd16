// Text widths before rendering.

let ruler: CanvasRenderingContext2D | null | undefined;

/** Widths of texts in CSS pixels, in one of the page's typefaces. */
export function textWidths(texts: readonly string[], size: number, face: 'serif' | 'sans' = 'serif'): number[] {
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return texts.map((text) => text.length * size * 0.55);
  const family = getComputedStyle(document.documentElement).getPropertyValue(`--cf-${face}`) || face;
  ruler.font = `${size}px ${family}`;
  return texts.map((text) => ruler?.measureText(text).width ?? 0);
}
