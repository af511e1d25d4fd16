// Reactive controllers of Lit: an element's environment, its width and the colour scheme, each of which requests an update
// after a change; and the focus.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { theme } from './theme.js';

type Host = ReactiveControllerHost & Element;

/**
 * The content width of an element, rounded down to whole CSS pixels, at most `most`; known from the first update on.
 */
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

  /** Whether the width changed. */
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

/** Requests an update when the colour scheme changes. */
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

/** The focus of a button that is disabled, such as "back" at the first token, goes to the nearest that can be pressed. */
export class KeptFocus implements ReactiveController {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostUpdated(): void {
    const root = this.#host.shadowRoot ?? document;
    const left = root.activeElement;
    if (!left?.matches(':disabled')) return;
    let place: Element | null | undefined = left;
    while (place && root.activeElement === left) {
      place = place.parentElement;
      place?.querySelector<HTMLElement>('button:enabled')?.focus();
    }
  }
}
