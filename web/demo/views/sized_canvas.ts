// A canvas that has exactly one pixel per device pixel, whatever its layout and the screen's density.

import type { LitElement, ReactiveController } from 'lit';

export class SizedCanvas implements ReactiveController {
  /** Size in device pixels. */
  width = 0;
  height = 0;
  readonly #observer: ResizeObserver;
  readonly #host: LitElement;
  #observed: HTMLCanvasElement | undefined;

  constructor(host: LitElement) {
    this.#host = host;
    this.#observer = new ResizeObserver((entries) => this.#measure(entries.at(-1)));
    host.addController(this);
  }

  hostUpdated(): void {
    const canvas = this.#host.renderRoot.querySelector('canvas') ?? undefined;
    if (canvas === this.#observed) return;
    this.#observer.disconnect();
    this.#observed = canvas;
    if (canvas) this.#observer.observe(canvas);
  }

  hostDisconnected(): void {
    this.#observer.disconnect();
    this.#observed = undefined;
  }

  /** Device pixels a CSS pixel. */
  get ratio(): number {
    return devicePixelRatio;
  }

  /** The 2-D context at the right size, or nothing while the canvas has no size. */
  context(): CanvasRenderingContext2D | undefined {
    const canvas = this.#observed;
    if (!canvas || this.width === 0 || this.height === 0) return undefined;
    if (canvas.width !== this.width) canvas.width = this.width;
    if (canvas.height !== this.height) canvas.height = this.height;
    return canvas.getContext('2d') ?? undefined;
  }

  #measure(entry: ResizeObserverEntry | undefined): void {
    if (!entry) return;
    const exact = entry.devicePixelContentBoxSize?.[0];
    this.width = settled(exact?.inlineSize, entry.contentRect.width * this.ratio);
    this.height = settled(exact?.blockSize, entry.contentRect.height * this.ratio);
    this.#host.requestUpdate();
  }
}

/** The engine's count of device pixels, unless it ignores the density (as it does where a device is emulated). */
function settled(exact: number | undefined, computed: number): number {
  return exact !== undefined && Math.abs(exact - computed) <= 1 ? exact : Math.round(computed);
}
