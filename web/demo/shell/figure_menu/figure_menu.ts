// <figure-menu>: a figure's exports: its link, its image, its values, its code, and an iframe for embedding the figure.
// A panel that the shell opens next to its button; Escape requests closing it (event `close`).

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { download } from '../../book/download.js';
import { messageOf } from '../../book/error_text.js';
import { filled } from '../../book/markup.js';
import type { MenuWords } from '../../words/en/menu.js';
import { csvOf, type Matrix, type MenuFigure, matricesOf, npyOf, shapeText } from './exported.js';
import { menuStyles } from './styles.js';

type CodeName = 'js' | 'cpp' | 'tl';

const catalogues = {
  en: () => import('../../words/en/menu.js'),
  de: () => import('../../words/de/menu.js'),
};

class FigureMenu extends LitElement {
  static override properties: PropertyDeclarations = {
    figure: { attribute: false },
    link: { attribute: false },
    language: { attribute: false },
    words: { state: true },
    shownCode: { state: true },
    embedding: { state: true },
    byHand: { state: true },
    status: { state: true },
  };
  declare figure: MenuFigure | undefined;
  /** The address of the current state. */
  declare link: string;
  declare language: keyof typeof catalogues;
  declare private words: MenuWords | undefined;
  declare private shownCode: CodeName;
  declare private embedding: boolean;
  /** A text to copy by hand if the page has no access to the clipboard. */
  declare private byHand: string | undefined;
  declare private status: string;

  static override styles = [menuStyles];

  constructor() {
    super();
    this.link = location.href;
    this.language = 'en';
    this.shownCode = 'js';
    this.embedding = false;
    this.status = '';
    this.addEventListener('keydown', this.#onKey);
  }

  #onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.dispatchEvent(new Event('close', { bubbles: true, composed: true }));
  };

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('language')) return;
    this.#readWords().catch((detail: unknown) => this.dispatchEvent(new CustomEvent('failed', { detail })));
  }

  async #readWords(): Promise<void> {
    const { language } = this;
    const { menu } = await catalogues[language]();
    if (language !== this.language) return;
    const first = this.words === undefined;
    this.words = menu;
    await this.updateComplete;
    if (first) this.renderRoot.querySelector('button')?.focus();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('byHand') || this.byHand === undefined) return;
    this.renderRoot.querySelector('textarea')?.select();
  }

  /** Runs a button's action and reports the result. */
  async #run(work: (words: MenuWords) => Promise<string> | string): Promise<void> {
    const { words } = this;
    if (!words) return;
    this.byHand = undefined;
    try {
      this.status = await work(words);
    } catch (error) {
      this.status = filled(words.failed, { reason: messageOf(error) });
    }
  }

  #copy(text: string): void {
    void this.#run(async (words) => {
      try {
        await navigator.clipboard.writeText(text);
        return words.copied;
      } catch {
        this.byHand = text;
        return '';
      }
    });
  }

  #picture(kind: 'png' | 'svg'): void {
    void this.#run(async (words) => {
      const { figure } = this;
      if (!figure) return '';
      this.status = words.saving;
      const { toSvg } = await import('./to_svg.js');
      const picture = await toSvg(figure, document.title);
      const file = `${figure.chapter.id}.${kind}`;
      if (kind === 'svg') download(file, new Blob([picture.text], { type: 'image/svg+xml' }));
      else download(file, await (await import('./to_png.js')).toPng(picture));
      return filled(words.saved, { file });
    });
  }

  #numbers(matrix: Matrix, kind: 'csv' | 'npy'): void {
    void this.#run((words) => {
      const file = `${matrix.file}.${kind}`;
      download(file, kind === 'csv' ? csvOf(matrix) : npyOf(matrix));
      return filled(words.saved, { file });
    });
  }

  #fullScreen(): void {
    void this.#run(async () => {
      await this.figure?.requestFullscreen();
      this.dispatchEvent(new Event('close', { bubbles: true, composed: true }));
      return '';
    });
  }

  /** The HTML that embeds the figure in its current state in another page. */
  get #embedText(): string {
    const script = new URL('elements.js', document.baseURI).href;
    const address = this.link.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    return `<script type="module" src="${script}"></script>\n<cf-figure address="${address}"></cf-figure>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { words, figure } = this;
    if (!words || !figure) return html`<slot></slot>`; // that it is loading
    return html`<div role="group" aria-label=${words.title}>
      <div class="acts">
        <button class="chip" type="button" @click=${() => this.#copy(this.link)}>${words.copyLink}</button>
        <button class="chip" type="button" title=${words.pngTitle} @click=${() => this.#picture('png')}>${words.png}</button>
        <button class="chip" type="button" title=${words.svgTitle} @click=${() => this.#picture('svg')}>${words.svg}</button>
        <button
          class="chip"
          type="button"
          aria-expanded=${this.embedding}
          @click=${() => {
            this.embedding = !this.embedding;
          }}
        >
          ${words.embed}
        </button>
        ${
          document.fullscreenEnabled
            ? html`<button class="chip" type="button" title=${words.fullScreenTitle} @click=${() => this.#fullScreen()}>${words.fullScreen}</button>`
            : nothing
        }
      </div>
      ${this.embedding ? this.#embedded(words) : nothing}
      <p class="status" role="status">${this.status}</p>
      ${this.byHand === undefined ? nothing : this.#copyByHand(words, this.byHand)}
      <h3>${words.numbers}</h3>
      ${this.#matrices(words, figure)}
      <h3>${words.code}</h3>
      ${this.#code(words, figure)}
    </div>`;
  }

  #embedded(words: MenuWords): TemplateResult {
    return html`<div>
      <pre tabindex="0" role="region" aria-label=${words.embed}>${this.#embedText}</pre>
      <p>${words.embedding}</p>
      <div class="acts">
        <button class="chip small" type="button" @click=${() => this.#copy(this.#embedText)}>${words.copyEmbedding}</button>
      </div>
    </div>`;
  }

  #copyByHand(words: MenuWords, text: string): TemplateResult {
    return html`<label><p>${words.copyYourself}</p><textarea readonly rows="3" .value=${text}></textarea></label>`;
  }

  #matrices(words: MenuWords, figure: MenuFigure): TemplateResult {
    const matrices = matricesOf(figure);
    if (matrices.length === 0) return html`<p>${words.noNumbers}</p>`;
    const button = (matrix: Matrix, kind: 'csv' | 'npy'): TemplateResult => {
      const label = filled(kind === 'csv' ? words.csvOf : words.npyOf, { source: matrix.source });
      return html`<button class="chip small" type="button" title=${label} aria-label=${label} @click=${() => this.#numbers(matrix, kind)}>${words[kind]}</button>`;
    };
    return html`<ul class="numbers">
      ${matrices.map(
        (matrix) => html`<li>
          <code>${matrix.source}</code><span class="shape">${shapeText(matrix.numbers)}</span>
          ${button(matrix, 'csv')} ${button(matrix, 'npy')}
        </li>`,
      )}
    </ul>`;
  }

  #code(words: MenuWords, figure: MenuFigure): TemplateResult {
    let code: ReturnType<MenuFigure['code']>;
    try {
      code = figure.code();
    } catch (error) {
      return html`<p>${messageOf(error)}</p>`; // of an address, which the figure tells as well
    }
    const names = (['js', 'cpp', 'tl'] as const).filter((name) => code[name] !== undefined);
    const shown = names.includes(this.shownCode) ? this.shownCode : 'js';
    const text = code[shown] ?? '';
    return html`<div class="acts" role="group" aria-label=${words.language}>
        ${names.map(
          (name) => html`<button
            class="chip small"
            type="button"
            aria-pressed=${name === shown}
            @click=${() => {
              this.shownCode = name;
            }}
          >
            ${words[name]}
          </button>`,
        )}
      </div>
      <pre tabindex="0" role="region" aria-label=${words[shown]}>${text}</pre>
      <div class="acts">
        <button class="chip small" type="button" @click=${() => this.#copy(text)}>${words.copyCode}</button>
      </div>`;
  }
}

customElements.define('figure-menu', FigureMenu);
