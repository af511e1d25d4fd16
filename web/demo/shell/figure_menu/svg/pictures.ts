// Canvases and images as embedded PNG.

import type { Drawing, Placed } from './drawing.js';
import { tag } from './markup.js';

type Pixels = HTMLCanvasElement | HTMLImageElement | HTMLVideoElement | SVGImageElement;

/** The pixels as a data URL; undefined if there are none, or for a cross-origin (tainted) source. */
export function dataUrlOf(source: Pixels, width: number, height: number): string | undefined {
  try {
    if (source instanceof HTMLCanvasElement) return source.width * source.height > 0 ? source.toDataURL() : undefined;
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(width));
    canvas.height = Math.max(1, Math.round(height));
    canvas.getContext('2d')?.drawImage(source, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL();
  } catch {
    return undefined;
  }
}

function sizeOf(source: Pixels): [width: number, height: number] {
  if (source instanceof HTMLImageElement) return [source.naturalWidth, source.naturalHeight];
  if (source instanceof HTMLVideoElement) return [source.videoWidth, source.videoHeight];
  if (source instanceof HTMLCanvasElement) return [source.width, source.height];
  return [2 * source.width.baseVal.value, 2 * source.height.baseVal.value];
}

export const isPixels = (element: Element): element is HTMLCanvasElement | HTMLImageElement | HTMLVideoElement =>
  element instanceof HTMLCanvasElement || element instanceof HTMLImageElement || element instanceof HTMLVideoElement;

/** Attributes that keep the edges of magnified pixels sharp. */
export const sharpness = (rendering: string): Record<string, string> =>
  rendering === 'pixelated' || rendering === 'crisp-edges'
    ? { 'image-rendering': 'optimizeSpeed', style: `image-rendering:${rendering}` }
    : {};

export function pixelsMarkup(source: Pixels, style: CSSStyleDeclaration, box: Placed, drawing: Drawing): string {
  const href = dataUrlOf(source, ...sizeOf(source));
  if (href === undefined || style.visibility !== 'visible') return '';
  const { x, y, width, height, transform } = box;
  const fit = style.objectFit === 'contain' ? 'xMidYMid' : style.objectFit === 'cover' ? 'xMidYMid slice' : 'none';
  const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
  const clip = radius > 0 ? drawing.clip({ x, y, width, height }, radius) : undefined;
  const look = { preserveAspectRatio: fit, ...sharpness(style.imageRendering), 'clip-path': clip, transform };
  return tag('image', { x, y, width, height, href, ...look });
}
