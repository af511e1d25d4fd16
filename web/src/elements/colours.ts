// Colour maps for numbers, and legible text colours on them. Signed values: zero is the background, positive rose,
// negative blue. Weights: a ramp of uniform OKLCH lightness steps, so that it reads alike with any colour vision and in
// grey.

/** The background: light or dark. */
export type Theme = 'light' | 'dark';
/** Red, green and blue, 0 … 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** The background colour, used for zero: `--cf-paper` of the page should be the same. */
export const paper: Readonly<Record<Theme, Rgb>> = { light: [251, 250, 247], dark: [18, 21, 26] };

const darkInk: Rgb = [28, 34, 44];
const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

interface SignedHues {
  readonly above: Rgb;
  readonly below: Rgb;
  /** The saturation at the largest value. */
  readonly most: number;
}
// On a dark background the hues end where white digits are still legible (luminance 0.18), so that one text colour
// suffices.
const signedHues: Readonly<Record<Theme, SignedHues>> = {
  light: { above: [210, 75, 105], below: [58, 127, 196], most: 0.84 },
  dark: { above: [217, 100, 126], below: [79, 144, 214], most: 0.78 },
};

/** The colour of a signed value; `bound` and beyond get full saturation. */
export function signed(value: number, bound: number, theme: Theme): Rgb {
  const ground = paper[theme];
  if (!(bound > 0) || value === 0 || Number.isNaN(value)) return ground;
  const { above, below, most } = signedHues[theme];
  const share = Math.min(1, Math.abs(value) / bound) ** 0.8 * most;
  const hue = value > 0 ? above : below;
  const mix = (axis: 0 | 1 | 2): number => Math.round(ground[axis] + (hue[axis] - ground[axis]) * share);
  return [mix(0), mix(1), mix(2)];
}

type Lch = readonly [lightness: number, chroma: number, hue: number];
type Ramp = readonly [Lch, Lch, Lch, Lch, Lch];
// The first stop is as light as the background.
const weightStops: Readonly<Record<Theme, Ramp>> = {
  light: [
    [0.98503, 0.00411, 150],
    [0.87, 0.085, 165],
    [0.68, 0.11, 220],
    [0.48, 0.15, 262],
    [0.27, 0.11, 285],
  ],
  dark: [
    [0.19481, 0.01116, 260.657],
    [0.39, 0.11, 272],
    [0.58, 0.13, 225],
    [0.78, 0.13, 165],
    [0.96, 0.1, 105],
  ],
};

function toByte(linear: number): number {
  const clipped = Math.min(1, Math.max(0, linear));
  const encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
  return Math.round(encoded * 255);
}

/** OKLCH to sRGB bytes (matrices: Ottosson, "A perceptual color space for image processing", 2020). */
function toRgb([lightness, chroma, hue]: Lch): Rgb {
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

function onRamp(ramp: Ramp, place: number): Rgb {
  const scaled = place * (ramp.length - 1);
  const index = Math.min(ramp.length - 2, Math.floor(scaled));
  const [from, to] = [ramp[index] ?? ramp[0], ramp[index + 1] ?? ramp[4]];
  const mix = (axis: 0 | 1 | 2): number => from[axis] + (to[axis] - from[axis]) * (scaled - index);
  return toRgb([mix(0), mix(1), mix(2)]);
}

const rampSteps = 511;
const fineSteps = 8191;
const ramps = new Map<Theme, readonly Rgb[]>();

/** The ramp without the colours on which neither text colour has a contrast of 4.5 : 1: it is steeper there. */
function makeRamp(theme: Theme): readonly Rgb[] {
  const fine = Array.from({ length: fineSteps + 1 }, (_, step) => onRamp(weightStops[theme], step / fineSteps));
  const readable = fine.filter((rgb) => Math.max(contrast(rgb, darkInk), contrast(rgb, white)) >= 4.5);
  const at = (step: number): Rgb => readable[Math.round((step / rampSteps) * (readable.length - 1))] ?? paper[theme];
  return [paper[theme], ...Array.from({ length: rampSteps }, (_, step) => at(step + 1))];
}

/** The colour of a weight 0 … 1, mapped by its square root so that small weights are visible. */
export function weight(share: number, theme: Theme): Rgb {
  let ramp = ramps.get(theme);
  if (ramp === undefined) {
    ramp = makeRamp(theme);
    ramps.set(theme, ramp);
  }
  const clipped = share > 0 ? Math.min(1, share) : 0; // NaN counts as 0
  return ramp[Math.round(Math.sqrt(clipped) * rampSteps)] ?? paper[theme];
}

/** A colour in CSS and SVG notation. */
export function cssColour([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** sRGB decoded, by byte: a matrix asks for thousands. */
const linears: number[] = [];

function linear(byte: number): number {
  const share = byte / 255;
  linears[byte] ??= share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  return linears[byte];
}

/** Relative luminance of WCAG 2, 0 … 1. */
export function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** WCAG 2 contrast ratio of two colours, 1 … 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [x, y] = [luminance(one), luminance(other)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/**
 * The text colour on a background, with a contrast of at least 4.5 : 1. The page's dark ink and white leave a gap at
 * luminances 0.183 to 0.247, where it is black with a contrast of 4.66 or more.
 */
export function inkOn(ground: Rgb): Rgb {
  const [dark, light] = [contrast(ground, darkInk), contrast(ground, white)];
  if (Math.max(dark, light) < 4.5) return black;
  return dark > light ? darkInk : white;
}
