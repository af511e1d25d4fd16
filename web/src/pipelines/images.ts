// One image or several, as a list.

import type { ImageInput } from '../image/image_input.js';

export function imageList(images: ImageInput | readonly ImageInput[]): readonly ImageInput[] {
  return Array.isArray(images) ? (images as readonly ImageInput[]) : [images as ImageInput];
}
