// The figure of chapter 7: the diagram of a block, and below it the opened view: a tensor, the stream through all
// blocks, a norm, the feed-forward network's neurons, pre-norm and post-norm, the model without a box, or its weights.

import { html, type TemplateResult } from 'lit';
import { editsCpp, editsJs, inputsJs, passTl } from '../../book/code_parts.js';
import { type EditSpec, formatEdits, withEdit } from '../../book/edits.js';
import type { FigureCode } from '../../book/figure.js';
import { figureStyles } from '../../book/figure_styles.js';
import { filled } from '../../book/markup.js';
import { MeasuredFigure } from '../../book/measured_figure.js';
import { oddsBars } from '../../book/odds.js';
import { sorter } from '../../book/sorter.js';
import { isAbove } from '../../book/upper_part.js';
import { within } from '../../book/within.js';
import type { words } from '../../words/en/block.js';
import { blockStyles } from './block_styles.js';
import { diagram, nameOf } from './diagram.js';
import { type Inventory, inventory } from './inventory.js';
import { type Missing, missing } from './missing.js';
import { missingView } from './missing_view.js';
import { mlpView } from './mlp_view.js';
import { type Neurons, neurons } from './neurons.js';
import { normView } from './norm_view.js';
import { type Order, order } from './order.js';
import { orderView } from './order_view.js';
import type { Part } from './plan.js';
import { partOf, type Reading, read, subjectOf, takesOut, translator } from './reading.js';
import { streamView } from './stream_view.js';
import { summary } from './summary.js';
import { tensorView } from './tensor_view.js';
import { modelSum, weightsView } from './weights_view.js';

const views = ['tensor', 'stream', 'norm', 'mlp', 'order', 'without', 'weights'] as const;
export type View = (typeof views)[number];

export interface Data {
  readonly reading: Reading;
  readonly view: View;
  readonly neurons?: Neurons;
  readonly order?: Order;
  readonly missing?: Missing;
  readonly weights?: Inventory;
}

export class FigureBlock extends MeasuredFigure<Data, typeof words> {
  static override styles = [figureStyles, blockStyles];

  get view(): View {
    return this.oneOf('view', views);
  }

  get who(): string {
    return this.value('who') || this.book.modelName;
  }

  /** The edits of the address, else of the step. */
  get specs(): EditSpec[] {
    return this.specsIn(this.data?.reading.shape.layers);
  }

  override get blocks(): readonly number[] {
    return this.data && this.who === this.book.modelName ? [this.data.reading.layer + 1] : [];
  }

  /** Class mode shows the probabilities of the next token only if something is edited. */
  withOdds({ edited }: Reading): boolean {
    return edited || !this.inClass;
  }

  chosenPart(reading: Reading): Part {
    return partOf(reading, this.value('box'));
  }

  protected override key(): string {
    const { address } = this.book;
    const text = this.who === sorter ? this.value('letters') : this.book.text;
    return [this.who, text, address.get('q'), this.view, this.value('l'), this.value('edit'), this.value('act')].join(
      '\n',
    );
  }

  protected override async compute(signal: AbortSignal): Promise<Data> {
    const { book, view } = this;
    const subject = await subjectOf(book, this.who, this.value('letters'));
    const { layers } = subject.shape;
    const layer = within(this.number('l'), layers);
    const specs = this.specsIn(layers).filter(({ hook }) => hook.startsWith(`${subject.stack}.`));
    const reading = await read(book, subject, layer, specs);
    return {
      reading,
      view,
      ...(view === 'mlp' && { neurons: await neurons(book, reading, this.value('act')) }),
      ...(view === 'order' && { order: await order(book, layer) }),
      ...(view === 'without' && { missing: await missing(book, subject, signal) }),
      ...(view === 'weights' && { weights: await inventory(book, reading) }),
    };
  }

  protected override nearest({ reading, view, neurons: found }: Data): Record<string, number> {
    return {
      l: reading.layer,
      ...(this.who === this.book.modelName && { q: reading.focus }),
      ...(view === 'tensor' && { c: within(this.number('c'), reading.shape.model) }),
      ...(found && { n: within(this.number('n'), found.pre.size) }),
    };
  }

  protected override valuesOf(data: Data): Record<string, string> {
    return summary(data);
  }

  /** Where the norms are, and whether there are three boxes; before it is read, of a model that may be the translator. */
  protected override conditions(value: (key: string) => string): Record<string, string> {
    const [name, side] = (value('who') || this.book.modelName).split('.');
    const reading = this.data?.reading;
    const isPost = reading?.name === name ? reading?.plan.postNorm : name === translator;
    return { [isPost ? 'isPost' : 'isPre']: '', [side === 'decoder' ? 'isCross' : 'isPair']: '' };
  }

  protected override draw(data: Data): TemplateResult {
    const { reading, view } = data;
    const parts: Readonly<Record<View, () => TemplateResult>> = {
      tensor: () => tensorView(this, reading),
      stream: () => streamView(this, reading),
      norm: () => normView(this, reading),
      mlp: () => mlpView(this, data),
      order: () => orderView(this, data),
      without: () => missingView(this, data),
      weights: () => weightsView(this, data),
    };
    const whole = diagram(this, reading);
    const beside = data.weights ? modelSum(this, data) : this.withOdds(reading) ? this.#odds(reading) : undefined;
    const part = html`<div class=${beside ? `with-odds ${view}` : ''}><div class="opened">${parts[view]()}</div>${beside}</div>`;
    // A phone shows the upper part: what the view is about.
    const inOrder = this.narrow && view !== 'tensor' ? [part, whole] : [whole, part];
    return html`<div class="all ${this.inClass ? 'large' : ''}">${this.#controls(reading)}${inOrder}</div>`;
  }

  #controls(reading: Reading): TemplateResult {
    const { labels } = this.words;
    const models = [
      [this.book.modelName, this.carried(labels.carried)],
      [sorter, labels.sorter],
      [`${translator}.encoder`, labels.encoder],
      [`${translator}.decoder`, labels.decoder],
    ] as const;
    const options = models.filter(([name], i) => models.findIndex(([other]) => other === name) === i);
    const layers = Array.from({ length: reading.shape.layers }, (_, l) => [String(l), String(l + 1)] as const);
    return html`<div class="controls">
      ${this.choice({ key: 'who', name: labels.model, options, chosen: this.who, clears: ['l'] })}
      ${this.choice({ key: 'l', name: labels.layer, options: layers, chosen: String(reading.layer) })}
      ${this.choice({ key: 'view', name: labels.show, options: views.map((view) => [view, labels[view]] as const), chosen: this.view })}
      ${reading.of > reading.tokens.length ? html`<span class="muted">${filled(this.shell.cut, { read: reading.tokens.length, of: reading.of })}</span>` : ''}
    </div>`;
  }

  #odds(reading: Reading): TemplateResult {
    const { labels } = this.words;
    const { odds, edited } = reading;
    return html`<div class="odds">
      ${oddsBars({ odds, edited, revealed: this.revealed, narrow: isAbove(), large: this.inClass, labels })}
      ${edited ? html`<button type="button" class="plain" @click=${() => this.choose({ edit: '' })}>${labels.allBack}</button>` : html`<p class="readout">${labels.tryOut}</p>`}
    </div>`;
  }

  /** Whether the address ablates a box: its numbers may still be computed. */
  isOut(hook: string): boolean {
    return this.specs.some((spec) => takesOut(spec, hook));
  }

  /** Ablates a box of the model, or restores it. */
  toggle(reading: Reading, id: string, layer: number): void {
    const hook = `${reading.stack}.${layer}.${id}`;
    const out = this.isOut(hook);
    const specs = out ? this.specs.filter((spec) => !takesOut(spec, hook)) : withEdit(this.specs, { hook, op: 'zero' });
    this.choose({ edit: formatEdits(specs) ?? '' });
    const part = reading.plan.parts.find((one) => one.id === id);
    const { boxBack, boxOut } = this.words.labels;
    if (part) this.say(filled(out ? boxBack : boxOut, { box: nameOf(this, reading, part), layer: layer + 1 }));
  }

  override code(): FigureCode {
    const reading = this.data?.reading;
    const block = `${reading?.stack ?? 'blocks'}.${reading?.layer ?? 0}`;
    const hook = `${block}.${reading ? this.chosenPart(reading).id : 'hook_resid_post'}`;
    const text = this.who === sorter ? this.value('letters') : this.book.text;
    const specs = reading?.specs ?? [];
    if (this.data?.weights) return weightsCode;
    const given = inputsJs(text, reading?.given, reading?.stack === 'decoder' ? 0 : reading?.of);
    return {
      js: `${given}${editsJs(specs)}const [logits, cache] = await model.run_with_cache(inputs, {\n  names_filter: ['${hook}', '*.hook_resid_*'],${specs.length > 0 ? '\n  edits,' : ''}\n});\ncache['${hook}'];                              // [1, ${reading?.tokens.length ?? 'pos'}, ${reading?.shape.model ?? 'd_model'}]\nconst odds = await softmax(logits.slice(0, -1));\n// the same weights with the norm before or after\nconst block = new nn.TransformerEncoderLayer(128, 4, { dim_feedforward: 512, norm_first: true });`,
      cpp: `Trace trace;\ntrace.capture("${hook}");\n${editsCpp(specs)}auto outputs = model->forward(inputs, &trace);`,
      tl: `${passTl(text, specs)}cache["${hook}"]`,
    };
  }
}

const weightsCode: FigureCode = {
  js: 'const parameters = await model.named_parameters(); // name and dims of each\nconst counts = parameters.map(({ dims }) => dims.reduce((product, dim) => product * dim, 1));\nconst total = counts.reduce((sum, count) => sum + count, 0);',
  cpp: 'std::size_t total = 0;\nfor (const auto& parameter : model->parameters().list()) total += parameter.shape.elements();',
  tl: 'sum(p.numel() for p in model.parameters())',
};

customElements.define('figure-block', FigureBlock);
