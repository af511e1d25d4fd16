// In windows of up to 900 pixels a figure stays above the prose (narrow.css) and takes a part of the height.

export const isAbove = (): boolean => innerWidth <= 900;

/** In CSS pixels. A tablet held upright has more lines for the prose than it needs. */
export const upperPart = (): number => innerHeight * (innerWidth > 600 && innerHeight > 900 ? 0.58 : 0.45);
