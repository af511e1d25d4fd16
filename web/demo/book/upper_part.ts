// In windows of up to 900 pixels a figure stays above the prose and takes a part of the height (narrow.css); beside it in
// low ones, as of a phone on its side, where it takes the whole height.

export const isAbove = (): boolean => innerWidth <= 900;

/** Low windows, where steps begin at the top. */
export const isLow = (): boolean => innerHeight <= 480;

/** In CSS pixels. A tablet held upright has more lines for the prose than it needs. */
export function upperPart(): number {
  if (isLow() && innerWidth >= 640) return innerHeight;
  return innerHeight * (innerWidth > 600 && innerHeight > 900 ? 0.58 : 0.45);
}
