// The page: what it is, the model that runs, the chapters, and where the numbers come from.
import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import './chapters/index.js';
import { ModelHost } from './state/model-host.js';
import { theme } from './state/theme.js';
import './views/model-bar.js';
import { shared } from './views/styles.js';

/** The bundled model lies beside the page, wherever that is served. */
const kBundled = { folder: new URL('models/stories260K/', document.baseURI).href, label: 'stories260K' };

@customElement('clear-app')
export class ClearApp extends LitElement {
  @state() private revision = 0;
  private host = new ModelHost();

  static override styles = [
    shared,
    css`
      .page { max-width: 1240px; margin: 0 auto; padding: 16px 20px 40px; display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--gap); }
      header { display: grid; grid-template-columns: 1fr auto; gap: 2px 16px; align-items: start; }
      h1 { margin: 0; font-size: 1.65rem; font-weight: 700; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
      .brand { color: var(--accent); margin-right: 0.35em; }
      .lede { color: var(--muted); max-width: 130ch; grid-column: 1 / -1; }
      .theme { padding: 0 12px; }
      footer a { color: inherit; }
      footer { color: var(--muted); font-size: 0.87rem; max-width: 130ch; }
      @media (max-width: 560px) { .page { padding: 14px 12px 32px; } h1 { font-size: 1.4rem; } .brand { display: block; } }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    theme.addEventListener('change', this.refresh);
    this.host.addEventListener('change', this.refresh);
    void this.host.load(kBundled.folder, kBundled.label);
  }

  override render(): TemplateResult {
    const next = theme.current === 'dark' ? 'light' : 'dark';
    const { current } = this.host;
    return html`<div class="page">
      <header>
        <h1><span class="brand">clearformer</span> Watch a language model write</h1>
        <button class="theme" @click=${() => theme.toggle()} aria-label="Switch to the ${next} theme">${next === 'dark' ? '☾' : '☀'}</button>
        <p class="lede">A complete transformer runs in this page. Point at any token to see what else it could have been, and what it looks at.</p>
      </header>
      <main class="page-main">
        ${current ? html`<story-chapter .model=${current}></story-chapter>` : nothing}
      </main>
      <model-bar .host=${this.host} .revision=${this.revision}></model-bar>
      <footer>Every number here is computed in this tab by the clearformer package; nothing is recorded beforehand and nothing is uploaded.
        The bundled model, stories260K by Andrej Karpathy, was trained on TinyStories and is tiny: its stories are simple and sometimes odd
        (<a href="models/stories260K/SOURCE.md">origin and licence</a>).</footer>
    </div>`;
  }

  private refresh = (): void => {
    this.revision++;
  };
}
