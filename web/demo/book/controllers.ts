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

/** What can be pressed; not the fields, with which a phone would open its keyboard. */
const pressable = ':is(a[href], button:enabled, select:enabled, summary, [tabindex="0"]):not([tabindex="-1"])';

/** What takes the focus of an element: itself, or the first in its shadow tree. */
function entryOf(element: Element): HTMLElement | undefined {
  if (element.matches(pressable) && element.getClientRects().length > 0) return element as HTMLElement;
  return [...(element.shadowRoot?.querySelectorAll('*') ?? [])].map(entryOf).find((found) => found);
}

/** An element or the whole shadow tree, and what was before it. */
interface Place {
  readonly node: ParentNode;
  readonly before: Element | undefined;
}

/** What can be pressed in the smallest of the places that is left: the last up to where the focus was, else the first. */
function nearest(places: readonly Place[]): HTMLElement | undefined {
  for (const [i, { node }] of places.entries()) {
    if (!node.isConnected) continue;
    if (node instanceof HTMLElement && node.matches('[tabindex]:not(:disabled)')) return node;
    const inside = places[i - 1];
    const at = [inside?.node, inside?.before].find((one) => one?.isConnected);
    const isUpTo = (other: Element): boolean =>
      at?.contains(other) || Boolean((at?.compareDocumentPosition(other) ?? 0) & Node.DOCUMENT_POSITION_PRECEDING);
    const entries = [...node.querySelectorAll('*')].filter(entryOf);
    const found = entries.findLast(isUpTo) ?? entries[0];
    if (found) return entryOf(found);
  }
  return undefined;
}

/** The focus of what an update disables or removes, such as "back" at the first token, goes to the nearest that is left. */
export class KeptFocus implements ReactiveController {
  readonly #host: Host;
  /** What had the focus, and all around it; from the smallest. */
  #places: Place[] = [];

  /** `home` selects where it goes instead. */
  constructor(
    host: Host,
    private readonly home?: string,
  ) {
    this.#host = host;
    host.addController(this);
  }

  get #root(): Document | ShadowRoot {
    return this.#host.shadowRoot ?? document;
  }

  get #focused(): Element | null {
    return this.#root.activeElement;
  }

  hostUpdate(): void {
    const places: Place[] = [];
    for (let node: ParentNode | null = this.#focused; node && node !== this.#host; node = node.parentNode)
      places.push({ node, before: node instanceof Element ? (node.previousElementSibling ?? undefined) : undefined });
    if (places.length > 0 && this.#focused !== document.body) this.#places = places;
  }

  hostUpdated(): void {
    const places = this.#places;
    const left = places[0]?.node;
    this.#places = [];
    if (!(left instanceof HTMLElement || left instanceof SVGElement)) return;
    const isDisabled = left.matches(':disabled');
    if (this.#focused === left ? !isDisabled : document.activeElement !== document.body) return;
    const home = this.home && this.#root.querySelector<HTMLElement>(this.home);
    const found = left.isConnected && !isDisabled ? left : home || nearest(places);
    if (found) found.focus();
    else this.#places = places; // until there is one, say when the figure is computed
  }
}
