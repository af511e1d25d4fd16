// Chapter 5's figure: a mask to paint and the resulting weights; fully masked rows in three libraries; multiplying
// instead of adding; one mask in four libraries' conventions.

import { percent } from 'clearformer/elements';
import { css, html, nothing, type TemplateResult } from 'lit';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { leaders } from '../../book/odds.js';
import { isAbove, upperPart } from '../../book/upper_part.js';
import { partOf, partText, rangeOf, type Window, windowAround } from '../../book/window.js';
import type { words } from '../../words/en/masks.js';
import { type Allowed, type MaskData, maskData, type Preset, paintedRows, presets } from './mask_numbers.js';
import { type EmptyRows, emptyRows, type Mistake, mistake, type Spelling, spellings } from './other_rules.js';
import './paint.js';
import type { Painted } from './paint.js';
import { emptyView, librariesView, mistakeView, type ViewContext } from './views.js';

/** Up to `whole` tokens are all drawn; of more, a window of `part`. */
const shownTokens = { usual: { whole: 12, part: 12 }, wall: { whole: 10, part: 9 } };

const views = ['paint', 'empty', 'mistake', 'libraries'] as const;
type View = (typeof views)[number];

interface Shown {
  readonly mask: MaskData;
  readonly view: View;
  readonly empty?: EmptyRows;
  readonly mistake?: Mistake;
  readonly libraries?: readonly Spelling[];
}

class FigureMasks extends MeasuredFigure<Shown, typeof words> {
  /** Values that are the same at all steps. */
  #anyMask: Readonly<Record<string, string>> = {};

  static override styles = [
    figureStyles,
    css`
      :host { container-type: inline-size; }
      .presets { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 8px; overflow: visible; }
      .controls { min-height: 34px; margin-bottom: 8px; }
      .two-up { display: grid; grid-template-columns: repeat(2, max-content); gap: 10px 34px; align-items: end; }
      .pairs { display: grid; grid-template-columns: repeat(2, max-content); gap: 4px 30px; }
      .odds { margin-top: 10px; display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: baseline; font-variant-numeric: tabular-nums; }
      .odds .serif { font-size: max(17px, var(--cf-min-font-size)); }
      .libraries { display: grid; grid-template-columns: minmax(0, 1fr); gap: 18px; } .libraries.two { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px 30px; }
      .library h3 { font: 600 max(18px, var(--cf-min-font-size)) var(--cf-serif); margin: 0; } .library h3 wbr { display: none; } .library p { font-size: max(14px, var(--cf-min-font-size)); margin: 0 0 4px; } .library .code { overflow-wrap: anywhere; margin-top: 4px; }
      .call { margin-top: 6px; color: var(--cf-muted); }
      .note { color: var(--cf-muted); font-size: max(13px, var(--cf-min-font-size)); } .large .odds .serif { font-size: calc(28px * var(--wall)); } .large .presets { margin: 0; } .large .controls { min-height: 0; margin: 6px 0 0; } .large .libraries { gap: 8px; } .large .libraries.two { gap: 8px calc(30px * var(--wall)); }
      @media (max-width: 900px) { .presets { flex-wrap: nowrap; overflow-x: auto; } .presets .chip { white-space: nowrap; } .controls { margin-bottom: 2px; } }
      @container (max-width: 640px) { .two-up, .pairs { grid-template-columns: max-content; gap: 2px; } .libraries.two { gap: 8px 12px; } .two .library:nth-child(n + 3) { grid-column: 1 / -1; } .library p.muted, .library .code { display: none; } .two .library h3 { font-size: 13px; overflow-wrap: anywhere; } .library h3 wbr { display: initial; } .two .library p { font-size: 12px; margin: 0; } .two .library p.muted { display: block; } .odds { margin-top: 4px; font-size: 14px; } }
    `,
  ];

  get #preset(): Preset {
    return presets.find((one) => one === this.value('mask')) ?? 'causal';
  }

  protected override key(): string {
    const { address, modelName, text } = this.book;
    const keys = ['l', 'h', 'mask', 'len', 'pre', 'key', 'rows', 'where', 'view'].map((key) => this.value(key));
    return [modelName, text, address.get('q'), ...keys].join('\n');
  }

  protected override async compute(): Promise<Shown> {
    const view = this.oneOf('view', views);
    const preset = this.#preset;
    const wanted = {
      preset,
      length: this.number('len'),
      prefix: this.number('pre'),
      without: this.number('key'),
      rows: this.value('rows'),
    };
    const where = this.value('where') === 'all' ? 'all' : 'head';
    const mask = await maskData(this.book, { layer: this.number('l'), head: this.number('h'), where }, wanted);
    if (view === 'empty') return { mask, view, empty: await emptyRows(mask) };
    if (view === 'mistake') return { mask, view, mistake: await mistake(mask) };
    return view === 'libraries' ? { mask, view, libraries: await spellings(mask) } : { mask, view };
  }

  protected override nearest({ mask: { hooks, request, sentence } }: Shown): Record<string, number> {
    const { length: len, prefix: pre, without: key } = request;
    return { l: hooks.layer, h: hooks.head, q: sentence.focus, len, pre, key };
  }

  protected override valuesOf({ mask, mistake: wrong }: Shown): Record<string, string> {
    const { labels, sentence, request, allowed, odds, hooks } = mask;
    const { before, now } = leaders(odds);
    const hidden = allowed.flat().filter((sees) => !sees).length;
    this.#anyMask = {
      row: labels[sentence.focus] ?? '',
      n: String(labels.length),
      length: String(request.length),
      [request.length > 0 ? 'hasText' : 'hasFilling']: '',
      ...(request.prefix > 1 ? { prefix: String(request.prefix) } : { isCausalToo: '' }),
      secret: labels[request.without] ?? '',
      ...(request.without < labels.length - 1 && { isRead: '' }), // by later tokens
      layer: String(hooks.layer + 1),
      head: String(hooks.head + 1),
    };
    return {
      ...this.#anyMask,
      ...(hidden === 1 ? { isOneHidden: '' } : { hidden: String(hidden) }),
      before: before?.piece.label ?? '',
      beforeOdds: percent(before?.before ?? 0),
      now: now?.piece.label ?? '',
      nowOdds: percent(now?.now ?? 0),
      ...(wrong && (wrong.broken === 0 ? { isLucky: '' } : { broken: String(wrong.broken) })),
    };
  }

  protected override conditions(value: (key: string) => string): Record<string, string> {
    const preset = value('mask');
    return {
      [`is${preset.charAt(0).toUpperCase()}${preset.slice(1)}`]: '',
      [value('where') === 'all' ? 'isEverywhere' : 'isHere']: '',
    };
  }

  override valuesAt(step: string): Readonly<Record<string, string>> {
    return { ...this.#anyMask, ...super.valuesAt(step) };
  }

  override get blocks(): readonly number[] {
    return [(this.data?.mask.hooks.layer ?? this.number('l')) + 1];
  }

  #shownPreset = '';

  /** The chosen mask comes into sight where their row scrolls. */
  protected override updated(): void {
    const row = this.renderRoot.querySelector<HTMLElement>('.presets');
    const chosen = row?.querySelector<HTMLElement>('[aria-pressed="true"]');
    const name = chosen?.textContent ?? '';
    if (!row || this.#shownPreset === name) return;
    this.#shownPreset = name;
    if (chosen) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  }

  protected override draw(data: Shown): TemplateResult {
    const { mask, view } = data;
    const { labels } = this.words;
    const { sentence } = mask;
    const window = this.#window(mask);
    return html`<div class=${this.inClass ? 'large' : ''}>
      <div class="presets sideways" role="group" aria-label=${labels.presets}>${presets
        .filter((preset) => preset !== 'painted' || mask.request.preset === 'painted')
        .map(
          (preset) =>
            html`<button type="button" class="chip" aria-pressed=${preset === mask.request.preset} @click=${() => this.choose({ mask: preset })}>${labels[preset]}</button>`,
        )}</div>
      ${this.#controls(mask)}
      ${sentence.of > sentence.ids.length ? html`<p class="note">${filled(this.shell.cut, { read: sentence.ids.length, of: sentence.of })}</p>` : nothing}
      ${window.count < window.of ? html`<p class="note">${filled(labels.window, { from: window.from + 1, to: window.from + window.count, of: window.of })}</p>` : nothing}
      ${view === 'paint' ? this.#painting(mask) : this.#other(data)}
    </div>`;
  }

  /** The window of tokens that is drawn, as rows and as columns. */
  #window({ labels, sentence }: MaskData): Window {
    const { whole, part } = this.inClass ? shownTokens.wall : shownTokens.usual;
    return windowAround(sentence.focus, labels.length, whole, part);
  }

  /** The largest cells that fit: `across` by `down` matrices, with `others` pixels for the rest. */
  #cell(mask: MaskData, across: number, down: number, others: number): ViewContext['cell'] {
    const { count, of } = this.#window(mask);
    const narrow = this.width <= 640;
    const usual = isAbove() ? upperPart() : innerHeight - 60;
    const room = this.inClass ? this.stageHeight - (count < of ? 36 : 0) : usual;
    const beside = narrow ? 84 : 60 + 45 * across;
    const width = (this.width - beside) / (count * (narrow ? 1 : across));
    const height = (room - others) / (count * down);
    const [widest, highest] = this.inClass ? [this.wall(62), this.wall(34)] : [30, 27];
    return { width: Math.max(10, Math.min(widest, width)), height: Math.max(12, Math.min(highest, height)) };
  }

  #controls(mask: MaskData): TemplateResult {
    const { labels } = this.words;
    const { preset, length, prefix, without } = mask.request;
    const slider = (key: 'len' | 'pre', name: string, value: number): TemplateResult =>
      html`<label class="slider"><span>${name}</span><input type="range" min="0" max=${mask.labels.length} .value=${String(value)} aria-label=${name} @input=${(event: Event) => this.slide({ [key]: (event.target as HTMLInputElement).value })} /><output class="number">${value}</output></label>`;
    const where = html`<span class="seg" role="group" aria-label=${labels.where}>${(['head', 'all'] as const).map(
      (one) =>
        html`<button type="button" aria-pressed=${this.value('where') === one} @click=${() => this.choose({ where: one })}>${labels[one]}</button>`,
    )}</span>`;
    return html`<div class="controls">
      ${preset === 'padding' || preset === 'both' ? slider('len', labels.length, length) : nothing}
      ${preset === 'prefix' ? slider('pre', labels.prefixLength, prefix) : nothing}
      ${preset === 'without' ? this.#which(mask, without) : nothing}
      ${this.oneOf('view', views) === 'paint' ? where : nothing}
    </div>`;
  }

  #which({ labels: tokens }: MaskData, without: number): TemplateResult {
    const { labels } = this.words;
    const choose = (event: Event): void => this.choose({ key: (event.target as HTMLSelectElement).value });
    return html`<label class="slider"><span>${labels.hide}</span><select aria-label=${labels.hide} @change=${choose}>${tokens.map(
      (token, i) => html`<option value=${i} .selected=${i === without}>${token}</option>`,
    )}</select></label>`;
  }

  #painting(mask: MaskData): TemplateResult {
    const { labels } = this.words;
    const { sentence } = mask;
    const cell = this.#cell(mask, 2, 1, this.width <= 640 ? 218 : 230);
    const window = this.#window(mask);
    const { from } = window;
    const range = rangeOf(window);
    const tokens = mask.labels.slice(...range);
    const hidden = (row: number, column: number): boolean => !mask.allowed[from + row]?.[from + column];
    const focus = sentence.focus - from;
    const rails = { rows: [focus], rowHue: 'q' };
    const narrow = this.width <= 640;
    const weights = mask.weights.slice(narrow ? [sentence.focus, sentence.focus + 1] : range, range);
    const part = window.count < window.of ? partText(partOf(window)) : undefined;
    const [maskPart, weightsPart] = partsOf(part, narrow ? String(sentence.focus) : part);
    const allowed: Allowed = mask.allowed.slice(...range).map((row) => row.slice(...range));
    const secret = this.revealed ? undefined : () => true;
    return html`<div class="two-up">
        <mask-canvas .added=${mask.added.slice(range, range)} .allowed=${allowed} .labels=${tokens} .cell=${cell} about=${labels.aboutM}
          source="scaled_dot_product_attention(0, 0, 0, { mask: ${mask.call}, need_scores: 'masked' })[1]${maskPart}" .selected=${{ row: focus, column: focus }}
          @mask-paint=${(event: CustomEvent<Painted>) => this.#paint(event.detail, mask, from)}></mask-canvas>
        <cf-matrix label="A" about=${labels.aboutA} scale="weights" .numbers=${weights} .rowLabels=${narrow ? [tokens[focus] ?? ''] : tokens} .columnLabels=${tokens} quiet=${narrow ? 'columns' : 'rows'}
          source="scaled_dot_product_attention(q, k, v, { mask: ${mask.call}, need_weights: true })[1]${weightsPart}" .cellWidth=${cell.width} .cellHeight=${cell.height} .masked=${narrow ? (_: number, column: number) => hidden(focus, column) : hidden} .secret=${secret} .rails=${narrow ? undefined : rails}
          @cell-select=${(event: CustomEvent<{ row: number }>) => !narrow && this.choose({ q: String(from + event.detail.row) })}></cf-matrix>
      </div>
      <p class="call"><code>${mask.call}</code></p>
      ${this.revealed ? this.#odds(mask) : nothing}`;
  }

  #odds({ odds, labels: tokens }: MaskData): TemplateResult | typeof nothing {
    if (odds.length === 0) return nothing;
    const { labels } = this.words;
    return html`<p class="odds"><span class="muted">${filled(labels.next, { token: tokens.at(-1) ?? '' })}</span>${odds.map(
      ({ piece, before, now }) =>
        html`<span><span class="serif">${piece.label}</span> <span class="muted">${percent(before)} →</span> <b>${percent(now)}</b></span>`,
    )}</p>`;
  }

  /** A cell of the window, which begins at token `from`. */
  #paint({ row: r, column: c, sees, begins }: Painted, mask: MaskData, from: number): void {
    const [row, column] = [from + r, from + c];
    // A stroke may be faster than the computation: the address is the state, not the last result.
    const before = { ...mask.request, preset: this.#preset, rows: this.value('rows') };
    const rows = paintedRows(before, mask.labels.length, { row, column, sees });
    this[begins ? 'choose' : 'slide']({ mask: 'painted', rows });
    const { labels } = this.words;
    this.say(
      filled(sees ? labels.maySee : labels.mayNotSee, {
        row: mask.labels[row] ?? '',
        column: mask.labels[column] ?? '',
      }),
    );
  }

  #other({ mask, empty, mistake: wrong, libraries }: Shown): TemplateResult {
    const { labels } = this.words;
    const shown = { window: this.#window(mask), narrow: this.width <= 640, large: this.inClass };
    const context = { data: mask, labels, hiding: !this.revealed, ...shown };
    if (empty) return emptyView({ ...context, cell: this.#cell(mask, 1, 1, 150) }, empty);
    if (wrong)
      return mistakeView(
        { ...context, cell: this.#cell(mask, 2, this.width <= 640 ? 1 : 2, this.inClass ? this.wall(176) : 210) },
        wrong,
      );
    return libraries ? librariesView({ ...context, cell: this.#cell(mask, 2, 1, 380) }, libraries) : html``;
  }

  override code(): FigureCode {
    const { layer, head } = this.data?.mask.hooks ?? { layer: this.number('l'), head: this.number('h') };
    const call = this.data?.mask.call ?? 'Mask.causal()';
    const shown = call === 'null' ? 'null' : call;
    const plus = call.includes('.and(')
      ? 'Mask::causal() & Mask::valid_lens(lengths.clone())'
      : { n: 'Mask()' }[call[0] ?? ''];
    const cpp =
      plus ??
      call
        .replace('.', '::')
        .replace(/\(\[.*\]\)|\(rows\)/, call.includes('valid_lens') ? '(lengths.clone())' : '(rows.clone())');
    return {
      js: `const mask = ${shown};\nconst [Z, A] = await scaled_dot_product_attention(q, k, v, { mask, need_weights: true });\n// in the running model: the scores before the mask, with −∞ where it hides\nawait model.run_with_hooks(inputs, {\n  edits: [{ hook: 'blocks.${layer}.attn.hook_attn_scores', head: ${head}, op: 'replace', value: masked }],\n});`,
      cpp: `const Mask mask = ${cpp};\nattention_pooling(q, k, v, {.mask = mask, .keep = PoolingOptions::Keep::weights});`,
      tl: `def masked(s, hook):\n    s[:, ${head}] = s[:, ${head}].masked_fill(~allowed, -torch.inf)\n    return s\nmodel.run_with_hooks(tokens, fwd_hooks=[("blocks.${layer}.attn.hook_attn_scores", masked)])`,
    };
  }
}

/** The slices in the sources of mask and weights; empty for the whole matrices. */
const partsOf = (part: string | undefined, rows: string | undefined): [mask: string, weights: string] => [
  part === undefined ? '' : `[${part}, ${part}]`,
  [rows, part].every((one) => one === undefined)
    ? ''
    : `[${[rows, part].filter((one) => one !== undefined).join(', ')}]`,
];

customElements.define('figure-masks', FigureMasks);
