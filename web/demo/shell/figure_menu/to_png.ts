// The same image as PNG, at two pixels per px of the page.

import type { SvgPicture } from './to_svg.js';

const scale = 2;
const rounds = 3;

export async function toPng({ text, width, height }: SvgPicture): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = scale * width;
    canvas.height = scale * height;
    const context = canvas.getContext('2d');
    // Browsers load the fonts embedded in an image when its text is first drawn: that text is missing until then.
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 60));
      context?.clearRect(0, 0, canvas.width, canvas.height);
      context?.drawImage(image, 0, 0, canvas.width, canvas.height);
    }
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is too large for this browser.'))));
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
