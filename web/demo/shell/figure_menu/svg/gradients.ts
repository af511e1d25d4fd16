// Converts CSS linear gradients to SVG: computed values of `linear-gradient(…)` and `repeating-linear-gradient(…)` with
// an angle and stops in px or per cent.

import { type Paint, paintOf } from './colours.js';
import type { Box, Drawing } from './drawing.js';
import { tag } from './markup.js';

interface Stop {
  colour: string;
  /** In px along the gradient line; undefined: interpolated between its neighbours. */
  at: number | undefined;
}

/** Splits at top-level commas. */
export function parts(text: string): string[] {
  const found = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) found.push('');
    else found[found.length - 1] += character;
  }
  return found.map((part) => part.trim());
}

const sides: Readonly<Record<string, number>> = { top: 0, right: 90, bottom: 180, left: 270 };

/** The direction in degrees, clockwise from upwards; undefined if `text` is not a direction. */
function angleOf(text: string): number | undefined {
  const angle = /^(-?[\d.]+)deg$/.exec(text)?.[1];
  if (angle !== undefined) return Number(angle);
  return sides[/^to (\w+)$/.exec(text)?.[1] ?? ''];
}

function stopsOf(texts: readonly string[], length: number): Stop[] {
  return texts.flatMap((text): Stop[] => {
    const found = /^(.*?)((?:\s+-?[\d.]+(?:px|%))*)$/.exec(text);
    const colour = found?.[1] ?? text;
    const places = [...(found?.[2] ?? '').matchAll(/(-?[\d.]+)(px|%)/g)].map(([, value, unit]) =>
      unit === '%' ? (Number(value) * length) / 100 : Number(value),
    );
    return places.length > 0 ? places.map((at) => ({ colour, at })) : [{ colour, at: undefined }];
  });
}

/**
 * Gives every stop a position: 0 for the first, the length for the last, others evenly spaced between their neighbours.
 */
function spread(stops: readonly Stop[], length: number): { colour: string; at: number }[] {
  const places = stops.map(({ at }, i) => at ?? (i === 0 ? 0 : i === stops.length - 1 ? length : undefined));
  return stops.map(({ colour }, i) => {
    const given = places[i];
    if (given !== undefined) return { colour, at: given };
    const before = places.slice(0, i).findLastIndex((place) => place !== undefined);
    const after = places.findIndex((place, j) => j > i && place !== undefined);
    const [low = 0, high = length] = [places[before], places[after]];
    return { colour, at: low + ((high - low) * (i - before)) / (after - before) };
  });
}

/** CSS interpolates towards a transparent stop with its neighbour's colour (premultiplied); SVG would use black. */
function visible(paints: readonly Paint[], i: number): Paint {
  const paint = paints[i] ?? { colour: '#000000', opacity: 0 };
  if (paint.opacity > 0) return paint;
  const beside = [paints[i - 1], paints[i + 1]].find((each) => each && each.opacity > 0);
  return { colour: beside?.colour ?? paint.colour, opacity: 0 };
}

/** The reference to a gradient that fills `box`; undefined for other images. */
export function gradientOf(image: string, box: Box, drawing: Drawing): string | undefined {
  const found = /^(repeating-)?linear-gradient\((.*)\)$/.exec(image);
  if (!found) return undefined;
  const [first = '', ...rest] = parts(found[2] ?? '');
  const degrees = angleOf(first);
  const radians = ((degrees ?? 180) * Math.PI) / 180;
  const [dx, dy] = [Math.sin(radians), -Math.cos(radians)];
  const length = Math.abs(box.width * dx) + Math.abs(box.height * dy);
  const stops = spread(stopsOf(degrees === undefined ? [first, ...rest] : rest, length), length);
  const [start, end] = [stops[0]?.at ?? 0, stops.at(-1)?.at ?? length];
  const point = (at: number): [number, number] => [
    box.x + box.width / 2 + dx * (at - length / 2),
    box.y + box.height / 2 + dy * (at - length / 2),
  ];
  const [[x1, y1], [x2, y2]] = [point(start), point(end)];
  const paints = stops.map(({ colour }) => paintOf(colour));
  const content = stops
    .map(({ at }, i) => {
      const paint = visible(paints, i);
      const offset = ((at - start) / (end - start || 1)).toFixed(4);
      return tag('stop', { offset, 'stop-color': paint.colour, 'stop-opacity': paint.opacity });
    })
    .join('');
  const spreadMethod = found[1] ? 'repeat' : undefined;
  return drawing.define((id) =>
    tag('linearGradient', { id, gradientUnits: 'userSpaceOnUse', x1, y1, x2, y2, spreadMethod }, content),
  );
}
