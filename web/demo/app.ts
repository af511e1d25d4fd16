// The page: its chapters, the one the reader is in, the model that runs there, and where the numbers come from.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Chapter } from './chapters/chapter.js';
import { chapters } from './chapters/index.js';
import { theme } from './state/theme.js';
import './views/model_bar.js';
import { shared } from './views/styles.js';

export class ClearApp extends LitElement {
  static override properties: PropertyDeclarations = {
    revision: { state: true },
    chapter: { state: true },
  };
  declare private revision: number;
  declare private chapter: Chapter;

  static override styles = [
    shared,
    css`
      .page { max-width: 1240px; margin: 0 auto; padding: 16px 20px 40px; display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--gap); }
      header { display: grid; grid-template-columns: 1fr auto; gap: 2px 16px; align-items: start; }
      h1 { margin: 0; font-size: 1.65rem; font-weight: 700; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
      .brand { color: var(--accent); margin-right: 0.35em; }
      .lede { color: var(--muted); max-width: 130ch; grid-column: 1 / -1; }
      .theme { padding: 0 12px; }
      nav { display: flex; flex-wrap: wrap; gap: 6px; }
      nav a {
        padding: 6px 13px;
        border: 1px solid var(--line);
        border-radius: 9px;
        background: var(--surface);
        color: var(--ink);
        font-weight: 550;
        font-size: 0.93rem;
        text-decoration: none;
      }
      nav a:hover { background: var(--sunken); }
      nav a[aria-current='page'] { background: var(--accent-soft); border-color: var(--accent); color: var(--accent); }
      footer a { color: inherit; }
      footer { color: var(--muted); font-size: 0.87rem; max-width: 130ch; }
      @media (max-width: 560px) {
        .page { padding: 14px 12px 32px; }
        h1 { font-size: 1.4rem; }
        .brand { display: block; }
        nav a { padding: 5px 10px; font-size: 0.87rem; }
      }
    `,
  ];

  constructor() {
    super();
    this.revision = 0;
    this.chapter = chapters[0];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    theme.addEventListener('change', this.#refresh);
    addEventListener('hashchange', this.#turn);
    for (const { host } of chapters) host.addEventListener('change', this.#refresh);
    this.#turn();
  }

  override render(): TemplateResult {
    const next = theme.current === 'dark' ? 'light' : 'dark';
    const { heading, lede, host, placesBar } = this.chapter;
    return html`<div class="page">
      <header>
        <h1><span class="brand">clearformer</span> ${heading}</h1>
        <button class="theme" @click=${() => theme.toggle()} aria-label="Switch to the ${next} theme">${next === 'dark' ? '☾' : '☀'}</button>
        <p class="lede">${lede}</p>
      </header>
      <nav aria-label="Chapters">${chapters.map((one) => this.#link(one))}</nav>
      <main>${this.chapter.view(this.revision)}</main>
      ${placesBar ? nothing : html`<model-bar .host=${host} .revision=${this.revision}></model-bar>`}
      <footer>Every number here is computed in this tab by the clearformer package; nothing is recorded beforehand and nothing is uploaded.
        The bundled models are small, so they are simple and sometimes wrong: stories260K by Andrej Karpathy (MIT; trained on TinyStories),
        gpt-nano-sort by Brendan Bycroft (MIT), marian-tiny-en-fr (trained on sentences of
        <a href="https://tatoeba.org">tatoeba.org</a>, collected at <a href="https://www.manythings.org/anki/">www.manythings.org/anki</a>,
        CC BY 2.0) and vit-mnist (trained on MNIST, CC BY-SA 3.0): <a href="models/NOTICE.md">origins and licences</a>.</footer>
    </div>`;
  }

  #link(chapter: Chapter): TemplateResult {
    return html`<a href="#${chapter.id}" aria-current=${chapter === this.chapter ? 'page' : 'false'}>${chapter.name}</a>`;
  }

  /** Goes to the chapter that the address names. */
  #turn = (): void => {
    this.chapter = chapters.find(({ id }) => `#${id}` === location.hash) ?? chapters[0];
    this.chapter.open();
  };

  #refresh = (): void => {
    this.revision++;
  };
}

customElements.define('clear-app', ClearApp);
