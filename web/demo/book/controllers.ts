// What an element of a figure has to know of its surroundings: how wide it is, and whether the page is dark. Each is a reactive
// controller of lit, which draws its element anew after a change.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { theme } from './theme.js';

type Host = ReactiveControllerHost & Element;

/** The width of an element without padding in whole CSS pixels, at most `most`; known from the first update on. */
export class OwnWidth implements ReactiveController {
  width = 0;
  readonly #host: Host;
  readonly #most: number;
  readonly #sizes: ResizeObserver;

  constructor(host: Host, most = Number.POSITIVE_INFINITY) {
    this.#host = host;
    this.#most = most;
    this.#sizes = new ResizeObserver(([entry]) => {
      if (this.#take(entry?.contentRect.width ?? 0)) host.requestUpdate();
    });
    host.addController(this);
  }

  /** Whether the width is another one than before. */
  #take(measured: number): boolean {
    const width = Math.min(this.#most, Math.floor(measured));
    if (width === this.width) return false;
    this.width = width;
    return true;
  }

  hostUpdate(): void {
    if (this.width === 0) this.#take(this.#host.getBoundingClientRect().width);
  }

  hostConnected(): void {
    this.#sizes.observe(this.#host);
  }

  hostDisconnected(): void {
    this.#sizes.disconnect();
  }
}

/** Draws an element anew in the other theme's colours. */
export class ThemeColours implements ReactiveController {
  readonly #redraw: () => void;

  constructor(host: ReactiveControllerHost) {
    this.#redraw = () => host.requestUpdate();
    host.addController(this);
  }

  hostConnected(): void {
    theme.addEventListener('change', this.#redraw);
  }

  hostDisconnected(): void {
    theme.removeEventListener('change', this.#redraw);
  }
}
