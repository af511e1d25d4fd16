// <cf-figure>: embeds one live figure of the clearformer page in another page.

import { css, html, nothing, type TemplateResult } from 'lit';
import { define, ElementBase, type Properties, sharedStyles } from './base.js';
import { words } from './words.js';

/** The size reported by the embedded page. */
interface SizeMessage {
  readonly type: 'clearformer-figure';
  readonly height: number;
}

const isSize = (data: unknown): data is SizeMessage =>
  typeof data === 'object' &&
  data !== null &&
  (data as SizeMessage).type === 'clearformer-figure' &&
  Number.isFinite((data as SizeMessage).height);

/** The URL of the figure alone, undefined for anything but a web address. */
export function embedded(address: string): string | undefined {
  let url: URL;
  try {
    url = new URL(address, document.baseURI);
  } catch {
    return undefined;
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  const [path = '', query = ''] = url.hash.split('?', 2);
  const state = new URLSearchParams(query);
  state.set('embed', '1');
  url.hash = `${path}?${state}`;
  return url.href;
}

/** A figure by its link, as copied by the page's "Copy link". It is as high as the embedded figure reports. */
export class CfFigure extends ElementBase {
  /** @internal */
  static styles = [
    sharedStyles,
    css`
      iframe {
        display: block;
        width: 100%;
        height: 560px;
        border: 0;
        color-scheme: normal;
      }
    `,
  ];
  /** @internal */
  static override properties: Properties = { address: { initial: '' }, label: { initial: '' } };

  /** The page's URL with the state of the figure, `https://…/#/head?q=6`. */
  declare address: string;
  /** The frame's accessible name. */
  declare label: string;

  /** @internal */
  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('message', this.#message);
  }

  /** @internal */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener('message', this.#message);
  }

  /** @internal */
  fault(): string | undefined {
    const { address } = this;
    return address === '' || embedded(address) !== undefined ? undefined : `'${address}' is no web address`;
  }

  /** @internal */
  draw(): TemplateResult | typeof nothing {
    const address = this.address === '' ? undefined : embedded(this.address);
    if (address === undefined) return nothing;
    return html`<iframe
      src=${address} title=${this.label || words().figure} loading="lazy" allow="fullscreen; clipboard-write"
    ></iframe>`;
  }

  readonly #message = ({ data, source }: MessageEvent): void => {
    const frame = this.renderRoot.querySelector('iframe');
    if (frame === null || source !== frame.contentWindow || !isSize(data)) return;
    frame.style.height = `${Math.min(4000, Math.max(80, Math.ceil(data.height)))}px`;
  };
}

define('cf-figure', CfFigure);

declare global {
  interface HTMLElementTagNameMap {
    'cf-figure': CfFigure;
  }
}
