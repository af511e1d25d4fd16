// The colour of a weight: a ramp whose lightness in OKLCH changes steadily, so that it reads the same with any
// kind of colour vision and in grey. Weight 0 is the colour of the cards. Light theme: white to deep blue; dark theme: night to pale yellow.

export type Theme = 'light' | 'dark';
/** How a weight 0 … 1 is placed on the ramp: even, or by its square root so that small weights show. */
export type Spread = 'even' | 'root';

export interface ColourScale {
  readonly theme: Theme;
  readonly spread: Spread;
  /** 256 entries of red, green, blue. */
  readonly table: Uint8Array;
}

interface Stop {
  lightness: number;
  chroma: number;
  hue: number;
}

const themeStops: Record<Theme, readonly Stop[]> = {
  light: [
    { lightness: 1, chroma: 0, hue: 120 },
    { lightness: 0.87, chroma: 0.085, hue: 165 },
    { lightness: 0.68, chroma: 0.11, hue: 220 },
    { lightness: 0.48, chroma: 0.15, hue: 262 },
    { lightness: 0.27, chroma: 0.11, hue: 285 },
  ],
  dark: [
    { lightness: 0.222, chroma: 0.014, hue: 262 },
    { lightness: 0.39, chroma: 0.11, hue: 272 },
    { lightness: 0.58, chroma: 0.13, hue: 225 },
    { lightness: 0.78, chroma: 0.13, hue: 165 },
    { lightness: 0.96, chroma: 0.1, hue: 105 },
  ],
};

function toByte(linear: number): number {
  const clipped = Math.min(1, Math.max(0, linear));
  const encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
  return Math.round(encoded * 255);
}

/** OKLCH to sRGB bytes (matrices: Ottosson, "A perceptual color space for image processing", 2020). */
function toRgb({ lightness, chroma, hue }: Stop): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function between(stops: readonly Stop[], place: number): Stop {
  const scaled = place * (stops.length - 1);
  const index = Math.min(stops.length - 2, Math.floor(scaled));
  const [from, to] = [stops[index], stops[index + 1]];
  if (!from || !to) throw new RangeError('a ramp needs two stops');
  const mix = (x: number, y: number): number => x + (y - x) * (scaled - index);
  return {
    lightness: mix(from.lightness, to.lightness),
    chroma: mix(from.chroma, to.chroma),
    hue: mix(from.hue, to.hue),
  };
}

export function colourScale(theme: Theme, spread: Spread): ColourScale {
  const table = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) table.set(toRgb(between(themeStops[theme], i / 255)), i * 3);
  return { theme, spread, table };
}

/** Place of a weight on the ramp, 0 … 255. */
export function rampIndex(spread: Spread, weight: number): number {
  const clipped = Math.min(1, Math.max(0, weight));
  return Math.round((spread === 'root' ? Math.sqrt(clipped) : clipped) * 255);
}

function rgbAt(scale: ColourScale, weight: number): [number, number, number] {
  const at = rampIndex(scale.spread, weight) * 3;
  return [scale.table[at] ?? 0, scale.table[at + 1] ?? 0, scale.table[at + 2] ?? 0];
}

export function cssColour(scale: ColourScale, weight: number): string {
  return `rgb(${rgbAt(scale, weight).join(' ')})`;
}

/** Relative luminance of WCAG 2. */
export function luminance(rgb: readonly [number, number, number]): number {
  const [red, green, blue] = rgb.map((byte) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white text, whichever is clearer on the weight's colour (at least 4.5 : 1). */
export function textOn(scale: ColourScale, weight: number): string {
  return luminance(rgbAt(scale, weight)) > 0.179 ? '#000' : '#fff';
}
