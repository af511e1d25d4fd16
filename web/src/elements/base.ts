// The base of all elements: lit's life cycle, properties with initial values and forms, errors in the element's place,
// the theme, and the page's colours and fonts with defaults.

import { type CSSResult, css, html, LitElement, type nothing, type TemplateResult } from 'lit';
import type { Theme } from './colours.js';
import { type Form, misfitOf } from './forms.js';
import { minFontSizeOf, themeOf, watchTheme } from './theme.js';

/** The part of lit's base class that elements expose, so that their types do not need lit. */
export interface ReactiveHost extends HTMLElement {
  /** Resolves when all pending changes are rendered. */
  readonly updateComplete: Promise<boolean>;
  readonly renderRoot: HTMLElement | DocumentFragment;
  /** Requests a render without a property change. */
  requestUpdate(name?: PropertyKey, before?: unknown): void;
  /** @internal Renders what is pending at once. */
  performUpdate(): void;
  /** @internal */
  createRenderRoot(): HTMLElement | DocumentFragment;
  /** Calls the controller when the element is inserted into a page and removed from it. */
  addController(controller: { hostConnected?(): void; hostDisconnected?(): void }): void;
  /** Called by the browser when the element is inserted into a page. */
  connectedCallback(): void;
  /** Called by the browser when the element is removed. */
  disconnectedCallback(): void;
}

const Reactive = LitElement as unknown as new () => ReactiveHost; // performUpdate and others are protected there

/** @internal */
export const sharedStyles: CSSResult = css`
  :host {
    display: block;
    position: relative;
    font-family: var(--_sans);
    --_serif: var(--cf-serif, Georgia, serif);
    --_sans: var(--cf-sans, system-ui, sans-serif);
    --_mono: var(--cf-mono, ui-monospace, monospace);
    --_min-font-size: var(--cf-min-font-size, 0px);
    --_paper: var(--cf-paper, #fbfaf7);
    --_raised: var(--cf-raised, #ffffff);
    --_sunken: var(--cf-sunken, #f2f0ea);
    --_ink: var(--cf-ink, #1c222c);
    --_muted: var(--cf-muted, #5d6573);
    --_line: var(--cf-line, #e2dfd7);
    --_line-strong: var(--cf-line-strong, #8b8f98);
    --_q: var(--cf-q, #b3520a);
    --_k: var(--cf-k, #0a716a);
    --_v: var(--cf-v, #5f2aa6);
    --_stream: var(--cf-stream, #33404f);
    --_accent: var(--cf-accent, #0b70ba);
    --_wrong: var(--cf-wrong, #a3262a);
  }
  :host(:state(dark)) {
    --_paper: var(--cf-paper, #12151a);
    --_raised: var(--cf-raised, #1a1e26);
    --_sunken: var(--cf-sunken, #191d24);
    --_ink: var(--cf-ink, #e9e6df);
    --_muted: var(--cf-muted, #a0a8b5);
    --_line: var(--cf-line, #2b313b);
    --_line-strong: var(--cf-line-strong, #6d7582);
    --_q: var(--cf-q, #f3a355);
    --_k: var(--cf-k, #4ccabb);
    --_v: var(--cf-v, #c9b3ff);
    --_stream: var(--cf-stream, #dfe6ee);
    --_accent: var(--cf-accent, #5aa9f2);
    --_wrong: var(--cf-wrong, #ff9d96);
  }
  :host([hidden]) {
    display: none;
  }
  .said {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  .sideways {
    overflow-x: auto;
    animation: fade-while-more linear both;
    animation-timeline: scroll(self inline);
  }
  @keyframes fade-while-more {
    from,
    99% {
      mask-image: linear-gradient(to left, transparent, black 32px);
    }
  }
  .fault,
  .status {
    margin: 0;
    color: var(--_wrong);
    font-size: max(14px, var(--_min-font-size));
    line-height: 1.4;
  }
  .status {
    color: var(--_muted);
    font-variant-numeric: tabular-nums;
  }
`;

/** @internal What an element declares of a property: lit's options, its initial value and the form of its values. */
interface Declared {
  readonly initial?: unknown;
  readonly form?: Form;
  readonly [option: string]: unknown;
}

/** @internal */
export type Properties = Readonly<Record<string, Declared>>;

export abstract class ElementBase extends Reactive {
  /** @internal */
  declare static properties: Properties;
  /** @internal Lit's. */
  declare static elementStyles: readonly CSSResult[];
  readonly #internals = this.attachInternals?.(); // happy-dom has none, jsdom none with states
  #theme: Theme | undefined;
  #minFontSize = 0;
  #unwatch: (() => void) | undefined;

  /**
   * @internal Lit's. A property set to null or undefined, as by removing its attribute, has its initial value; a text
   * set to a number's, as React and Vue set attributes, is converted as in the attribute.
   */
  static getPropertyDescriptor(name: string, key: symbol, { initial, type }: Declared): PropertyDescriptor {
    return {
      get(this: Record<symbol, unknown>) {
        return this[key] ?? initial;
      },
      set(this: ElementBase & Record<PropertyKey, unknown>, value: unknown) {
        const before = this[name];
        this[key] = type === Number && typeof value === 'string' ? Number(value) : value;
        this.requestUpdate(name, before);
      },
      configurable: true,
      enumerable: true,
    };
  }

  /** @internal Which property has a value of another form, in a sentence. */
  get misfit(): string | undefined {
    const { properties } = this.constructor as typeof ElementBase;
    for (const [name, { form }] of Object.entries(properties)) {
      const misfit = form && misfitOf(name, this[name as keyof this], form);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }

  /** @internal Why the element cannot be drawn although every property has its form, in a sentence. */
  abstract fault(): string | undefined;

  /** @internal */
  abstract draw(): TemplateResult | typeof nothing;

  /** @internal */
  render(): TemplateResult | typeof nothing {
    const fault = this.misfit ?? this.fault();
    return fault === undefined ? this.draw() : html`<p class="fault" role="alert">${this.localName}: ${fault}</p>`;
  }

  /** Whether the page around the element is dark. */
  get theme(): Theme {
    if (this.#theme === undefined) this.#readTheme();
    return this.#theme ?? 'light';
  }

  /** Minimum font size in CSS pixels: the page's `--cf-min-font-size`; 0 without one. */
  get minFontSize(): number {
    return this.#minFontSize;
  }

  /** @internal Lit's, whose style sheets only its own document takes. */
  override createRenderRoot(): HTMLElement | DocumentFragment {
    if (this.ownerDocument === document) return super.createRenderRoot();
    this.attachShadow({ mode: 'open' });
    return this.adoptedCallback() as ShadowRoot;
  }

  /** @internal Called by the browser in another document, which takes none of the style sheets of the one before. */
  adoptedCallback(): ShadowRoot | null {
    const Sheet = this.ownerDocument.defaultView?.CSSStyleSheet; // none in a template
    if (this.shadowRoot !== null && Sheet !== undefined) {
      this.shadowRoot.adoptedStyleSheets = (this.constructor as typeof ElementBase).elementStyles.map(({ cssText }) => {
        const sheet = new Sheet();
        sheet.replaceSync(cssText);
        return sheet;
      });
    }
    return this.shadowRoot;
  }

  /** @internal */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#unwatch = watchTheme(() => {
      this.#readTheme();
      this.requestUpdate();
      this.performUpdate(); // Firefox copies a page that it prints before it runs what is pending
    });
    this.#readTheme();
  }

  /** @internal */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unwatch?.();
  }

  #readTheme(): void {
    this.#theme = themeOf(this);
    this.#minFontSize = minFontSizeOf(this);
    if (this.#theme === 'dark') this.#internals?.states?.add('dark');
    else this.#internals?.states?.delete('dark');
  }
}

/** @internal Dispatches an event that bubbles out of shadow trees. */
export const tell = (element: HTMLElement, type: string, detail: unknown): boolean =>
  element.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));

/**
 * @internal Registers the class with its tag, unless there are no custom elements (Node) or it is registered already.
 */
export function define(tag: string, element: CustomElementConstructor): void {
  if (typeof document === 'undefined' || customElements.get(tag)) return;
  customElements.define(tag, element);
}
