// Background images of boxes: loaded before the image is written, which is synchronous, then placed according to CSS.

import type { Drawing, Placed } from './drawing.js';
import { group, tag } from './markup.js';
import { dataUrlOf, sharpness } from './pictures.js';

interface Loaded {
  href: string;
  width: number;
  height: number;
}
export type Images = ReadonlyMap<string, Loaded>;

const urlOf = (image: string): string | undefined => /^url\("?([^")]+)"?\)$/.exec(image)?.[1];

/** The URLs of background images in an element and its rendered descendants. */
function urlsIn(root: Element | ShadowRoot, found = new Set<string>()): Set<string> {
  const elements = root instanceof Element ? [root, ...root.querySelectorAll('*')] : root.querySelectorAll('*');
  for (const element of elements) {
    if (!(element instanceof HTMLElement)) continue;
    for (const pseudo of [null, '::before', '::after']) {
      const url = urlOf(getComputedStyle(element, pseudo).backgroundImage);
      if (url !== undefined) found.add(url);
    }
    if (element.shadowRoot) urlsIn(element.shadowRoot, found);
  }
  return found;
}

/** Loads the background images inside an element; those that fail to load are omitted. */
export async function backgroundsIn(element: Element): Promise<Images> {
  const loaded = [...urlsIn(element)].map(async (url): Promise<[string, Loaded][]> => {
    const image = new Image();
    image.src = url;
    try {
      await image.decode();
    } catch {
      return [];
    }
    const { naturalWidth: width, naturalHeight: height } = image;
    const href = dataUrlOf(image, width, height);
    return href === undefined ? [] : [[url, { href, width, height }]];
  });
  return new Map((await Promise.all(loaded)).flat());
}

/** Resolves a length of `background-size`: undefined for `auto`. */
const lengthOf = (css: string, whole: number): number | undefined => {
  const value = Number.parseFloat(css);
  if (Number.isNaN(value)) return undefined;
  return css.endsWith('%') ? (value * whole) / 100 : value;
};

function sizeOf(css: string, image: Loaded, { width, height }: Placed): [width: number, height: number] {
  const scales = [width / image.width, height / image.height];
  if (css === 'cover' || css === 'contain') {
    const scale = css === 'cover' ? Math.max(...scales) : Math.min(...scales);
    return [scale * image.width, scale * image.height];
  }
  const [first = 'auto', second = 'auto'] = css.split(' ');
  const [wide, high] = [lengthOf(first, width), lengthOf(second, height)];
  const ratio = image.width / image.height;
  return [wide ?? (high === undefined ? image.width : high * ratio), high ?? (wide ?? image.width) / ratio];
}

/** One background image of a box, without repetition; empty if it has not been loaded. */
export function imageMarkup(
  css: string,
  style: CSSStyleDeclaration,
  box: Placed,
  drawing: Drawing,
  rx: number,
): string {
  const image = drawing.images.get(urlOf(css) ?? '');
  if (!image) return '';
  const [width, height] = sizeOf(style.backgroundSize, image, box);
  const [across = '0%', down = '0%'] = style.backgroundPosition.split(' ');
  const place = (position: string, room: number): number => lengthOf(position, position.endsWith('%') ? room : 0) ?? 0;
  const x = box.x + place(across, box.width - width);
  const y = box.y + place(down, box.height - height);
  const look = { preserveAspectRatio: 'none', ...sharpness(style.imageRendering) };
  const inside = tag('image', { x, y, width, height, href: image.href, ...look });
  const { transform, ...upright } = box;
  return group({ transform }, group({ 'clip-path': drawing.clip(upright, rx || undefined) }, inside));
}
