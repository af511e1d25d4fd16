// State shared while one image is written: its origin on the screen, its ids, its definitions, the font families used.
// All coordinates are screen coordinates in px, relative to the image's top left corner.

import type { Images } from './backgrounds.js';
import { tag } from './markup.js';

/** The linear part (rotation, scale, skew) of the CSS transforms in effect; undefined for the identity. */
export interface Turn {
  a: number;
  b: number;
  c: number;
  d: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A box to draw: axis-aligned at its position, or centred on the origin with a transform. */
export interface Placed extends Box {
  transform?: string;
}

export class Drawing {
  readonly definitions: string[] = [];
  readonly families = new Set<string>();
  readonly #origin: DOMRect;
  readonly #roots = new Map<Node, number>();
  readonly #written = new Set<string>();
  readonly #wanted = new Map<string, Element>();
  #count = 0;

  constructor(
    origin: DOMRect,
    readonly images: Images,
  ) {
    this.#origin = origin;
  }

  /** A screen rectangle in the image's coordinates. */
  box({ left, top, width, height }: DOMRect): Box {
    return { x: left - this.#origin.left, y: top - this.#origin.top, width, height };
  }

  /** The position of a box with bounding box `box` and size `width` × `height` before the transform. */
  placed(box: Box, turn: Turn | undefined, width = box.width, height = box.height): Placed {
    if (!turn) return box;
    const { a, b, c, d } = turn;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const transform = `matrix(${[a, b, c, d, x, y].map((value) => Number(value.toFixed(5))).join(' ')})`;
    return { x: -width / 2, y: -height / 2, width, height, transform };
  }

  /** Adds a definition; returns the reference to it. */
  define(content: (id: string) => string): string {
    const id = `d${this.#count++}`;
    this.definitions.push(content(id));
    return `url(#${id})`;
  }

  /** A clip path of one rectangle. */
  clip({ x, y, width, height, transform }: Placed, rx?: number): string {
    return this.define((id) => tag('clipPath', { id }, tag('rect', { x, y, width, height, rx, transform })));
  }

  /** The image's unique name for an id, since every shadow root has its own ids. */
  idOf(root: Node, id: string): string {
    if (!this.#roots.has(root)) this.#roots.set(root, this.#roots.size);
    return `r${this.#roots.get(root)}-${id}`;
  }

  /** Records that an element with an id has been written. */
  wrote(root: Node, id: string): string {
    const name = this.idOf(root, id);
    this.#written.add(name);
    return name;
  }

  /** The unique name of a referenced element; if the image does not contain it, it is written at the end. */
  refer(root: Node, id: string): string {
    const name = this.idOf(root, id);
    const target = 'getElementById' in root ? (root as Document | ShadowRoot).getElementById(id) : null;
    if (target) this.#wanted.set(name, target);
    return name;
  }

  /** Referenced elements that have not been written yet. */
  missing(): Element[] {
    return [...this.#wanted].filter(([name]) => !this.#written.has(name)).map(([, element]) => element);
  }
}

/** Composes with an element's computed `transform`; undefined if the result is the identity. */
export function turned(turn: Turn | undefined, transform: string): Turn | undefined {
  if (transform === 'none' || transform === '') return turn;
  const before = turn ? new DOMMatrix([turn.a, turn.b, turn.c, turn.d, 0, 0]) : new DOMMatrix();
  const { a, b, c, d } = before.multiply(new DOMMatrix(transform));
  const upright = [a - 1, b, c, d - 1].every((value) => Math.abs(value) < 1e-4);
  return upright ? undefined : { a, b, c, d };
}
