// What an element of a figure has to know of its surroundings: how wide it is, and whether the page is dark. Each is a reactive
// controller of lit, which draws its element anew after a change.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { theme } from './theme.js';

type Host = ReactiveControllerHost & Element;

/** The width of an element in whole CSS pixels, at most `most`; 0 before it is known. */
export class OwnWidth implements ReactiveController {
  width = 0;
  readonly #host: Host;
  readonly #sizes: ResizeObserver;

  constructor(host: Host, most = Number.POSITIVE_INFINITY) {
    this.#host = host;
    this.#sizes = new ResizeObserver(([entry]) => {
      const width = Math.min(most, Math.floor(entry?.contentRect.width ?? 0));
      if (width === this.width) return;
      this.width = width;
      host.requestUpdate();
    });
    host.addController(this);
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
