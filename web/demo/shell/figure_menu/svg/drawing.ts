// What the parts of one picture share while it is written: its place on the screen, the ids it hands out, its definitions,
// the families of type it uses. Everything is measured on the screen, in px from the picture's upper left corner.

import type { Images } from './backgrounds.js';
import { tag } from './markup.js';

/** The turn and scale of what stands inside CSS transforms. Without one nothing is turned. */
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

/** A box as it is drawn: upright at its place, or about its centre with a transform. */
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

  /** A rectangle of the screen in the picture. */
  box({ left, top, width, height }: DOMRect): Box {
    return { x: left - this.#origin.left, y: top - this.#origin.top, width, height };
  }

  /** Where a part stands that covers `box` and is `width` × `height` before it is turned. */
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

  /** The picture's own name for an id: each shadow root has ids of its own. */
  idOf(root: Node, id: string): string {
    if (!this.#roots.has(root)) this.#roots.set(root, this.#roots.size);
    return `r${this.#roots.get(root)}-${id}`;
  }

  /** Says that an element with an id has been written. */
  wrote(root: Node, id: string): string {
    const name = this.idOf(root, id);
    this.#written.add(name);
    return name;
  }

  /** The name of what is referred to; it is written at the end if it stands outside the picture. */
  refer(root: Node, id: string): string {
    const name = this.idOf(root, id);
    const target = 'getElementById' in root ? (root as Document | ShadowRoot).getElementById(id) : null;
    if (target) this.#wanted.set(name, target);
    return name;
  }

  /** Elements that are referred to and have not been written yet. */
  missing(): Element[] {
    return [...this.#wanted].filter(([name]) => !this.#written.has(name)).map(([, element]) => element);
  }
}

/** The turn inside an element with this computed `transform`. */
export function turned(turn: Turn | undefined, transform: string): Turn | undefined {
  if (transform === 'none' || transform === '') return turn;
  const before = turn ? new DOMMatrix([turn.a, turn.b, turn.c, turn.d, 0, 0]) : new DOMMatrix();
  const { a, b, c, d } = before.multiply(new DOMMatrix(transform));
  const upright = [a - 1, b, c, d - 1].every((value) => Math.abs(value) < 1e-4);
  return upright ? undefined : { a, b, c, d };
}
