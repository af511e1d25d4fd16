// The figure of the laboratory: the choice of a bench, its view and its controls.

import { decimals } from 'clearformer/elements';
import { css, html, type TemplateResult } from 'lit';
import { Figure, type FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import type { words } from '../../words/en/laboratory.js';
import { benches, shownHead } from './benches.js';
import { codeOf } from './code.js';
import { look, type Request, type Result, type View, views } from './views.js';

export class FigureLaboratory extends Figure<Result, typeof words> {
  static override styles = [
    figureStyles,
    css`
      h3 { font: 600 max(17px, var(--cf-min-font-size)) var(--cf-serif); margin: 18px 0 6px; }
      .row { display: flex; gap: 8px 14px; flex-wrap: wrap; align-items: center; margin: 6px 0; }
      .written { font: max(19px, var(--cf-min-font-size)) / 1.5 var(--cf-serif); margin: 4px 0; overflow-wrap: anywhere; }
      .written.changed { border-left: 3px solid var(--cf-accent); padding-left: 12px; }
      .list { list-style: none; margin: 8px 0; padding: 0; display: grid; gap: 4px; }
      .list li { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; }
      .scroll { overflow: auto; max-height: 62vh; }
      input[list], input.wide { width: min(360px, 100%); }
      input.short { width: 72px; }
      .edit { align-items: end; }
      .edit label { display: grid; gap: 2px; }
      .edit input[list] { width: min(250px, 100%); }
      .two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(288px, 100%), 1fr)); gap: 24px; }
    `,
  ];

  get view(): View {
    return this.oneOf('view', views);
  }

  get request(): Request {
    const [by, dtype] = [this.value('by'), this.value('dt')];
    return {
      view: this.view,
      hook: this.book.address.get('hook'),
      usualHook: this.value('hook'),
      by: by === 'head' || by === 'layer' ? by : 'position',
      other: this.value('t2') || this.words.labels.otherSentence,
      dtype: dtype === 'fp16' || dtype === 'q4' ? dtype : 'q8',
    };
  }

  protected override key(): string {
    const { address, modelName, text } = this.book;
    const { hook, usualHook, by, other, dtype } = this.request;
    const own = {
      hook: [hook, usualHook, address.get('edit')],
      export: [hook, usualHook],
      edit: [address.get('edit')],
      patching: [by, other],
      compare: [dtype],
    };
    return [this.view, modelName, text, address.get('r'), address.get('w'), ...(own[this.view as 'hook'] ?? [])].join(
      '\n',
    );
  }

  protected override compute(signal: AbortSignal): Promise<Result> {
    return look(this.book, this.request, signal);
  }

  protected override updated(): void {
    this.classList.toggle('large', this.inClass);
  }

  protected override nearest(result: Result): Record<string, number | undefined> {
    const { right, wrong } = result.subject;
    return { r: right.id, w: wrong.id, h: result.view === 'hook' ? shownHead(this, result) : undefined };
  }

  protected override valuesOf(result: Result): Record<string, string> {
    const { right, wrong, model } = result.subject;
    return {
      right: right.label,
      wrong: wrong.label,
      hooks: String(model.hooks().length),
      ...(result.view === 'attribution' && { difference: decimals(result.attribution.logits.data[0] ?? 0, 2) }),
      ...(result.view === 'ablation' && { difference: decimals(result.ablation.baseline, 2) }),
      ...(result.view === 'patching' &&
        result.patching && {
          clean: decimals(result.patching.clean, 2),
          corrupted: decimals(result.patching.corrupted, 2),
        }),
      ...(result.view === 'compare' && result.comparison.differences.every((one) => one === 0) && { isSame: '' }),
      ...(result.view === 'detect' && { found: String(result.detected.heads.length) }),
    };
  }

  protected override draw(result: Result): TemplateResult {
    const { labels } = this.words;
    const { tokens, of } = result.subject;
    return html`<div class="controls">
        <div class="seg" role="group" aria-label=${labels.bench}>${views.map((view) => html`<button type="button" aria-pressed=${view === result.view} @click=${() => this.choose({ view })}>${labels[view]}</button>`)}</div>
      </div>
      ${of > tokens.length ? html`<p class="verdict">${filled(this.words.labels.window, { read: tokens.length, of })}</p>` : ''}
      ${benches[result.view](this, result as never)}`;
  }

  override code(): FigureCode {
    return codeOf(this);
  }
}

customElements.define('figure-laboratory', FigureLaboratory);
