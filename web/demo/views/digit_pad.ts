// A place to draw a digit with the mouse, a pen or a finger, or to take a sample. Gives canvases: white on black.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { mnistFrame } from '../state/pixels.js';
import { shared } from './styles.js';

const padSide = 280;
const strokeWidth = 22;
const sampleCount = 10;
/** Side of a sample in its strip. */
const sampleSide = 28;

export class DigitPad extends LitElement {
  static override properties: PropertyDeclarations = {
    empty: { state: true },
  };
  declare private empty: boolean;
  #last: { x: number; y: number } | undefined;
  readonly #strip = new URL('models/vit-mnist/samples.png', document.baseURI).href;

  static override styles = [
    shared,
    css`
      .row { display: flex; flex-wrap: wrap; gap: 14px 22px; align-items: start; }
      .pad { position: relative; width: 168px; }
      canvas { display: block; width: 168px; height: 168px; border-radius: 10px; background: #000; cursor: crosshair; touch-action: none; }
      .pad p { position: absolute; inset: 0; display: grid; place-items: center; color: #cfd3da; pointer-events: none; }
      .side { flex: 1 1 260px; display: grid; gap: 8px; justify-items: start; }
      .samples { display: flex; flex-wrap: wrap; gap: 6px; }
      .samples button { width: 46px; min-height: 46px; padding: 0; border-radius: 9px; background-color: #000; background-size: 1000% 100%; image-rendering: pixelated; }
      .samples button:hover { outline: 2px solid var(--focus); }
    `,
  ];

  constructor() {
    super();
    this.empty = true;
  }

  override render(): TemplateResult {
    const samples = Array.from({ length: sampleCount }, (_, i) => i);
    return html`<div class="row">
      <div class="pad">
        <canvas width=${padSide} height=${padSide} role="img" aria-label="Drawing area: draw a digit with a pointer, or choose a sample"
          @pointerdown=${this.#onDown} @pointermove=${this.#onMove} @pointerup=${this.#onUp} @pointercancel=${this.#onUp}></canvas>
        ${this.empty ? html`<p>Draw a digit here</p>` : ''}
      </div>
      <div class="side">
        <h3>… or take one that somebody wrote</h3>
        <div class="samples">${samples.map((i) => this.#sample(i))}</div>
        <button type="button" id="clear" @click=${this.#clear}>Clear the drawing</button>
      </div>
    </div>`;
  }

  #sample(i: number): TemplateResult {
    const style = { backgroundImage: `url(${this.#strip})`, backgroundPosition: `${(i / (sampleCount - 1)) * 100}% 0` };
    return html`<button type="button" aria-label=${`Sample ${i}`} style=${styleMap(style)} @click=${() => void this.take(i)}></button>`;
  }

  /** Gives the i-th sample as it is, and shows it on the pad. */
  async take(i: number): Promise<void> {
    const image = new Image();
    image.src = this.#strip;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: sampleSide, height: sampleSide });
    canvas.getContext('2d')?.drawImage(image, -i * sampleSide, 0);
    this.#wipe();
    const ink = this.#ink();
    if (ink) ink.imageSmoothingEnabled = false;
    ink?.drawImage(canvas, 0, 0, padSide, padSide);
    this.empty = false;
    this.#give(canvas);
  }

  #ink(): CanvasRenderingContext2D | undefined {
    return this.renderRoot.querySelector('canvas')?.getContext('2d', { willReadFrequently: true }) ?? undefined;
  }

  #wipe(): void {
    const ink = this.#ink();
    if (!ink) return;
    ink.fillStyle = '#000';
    ink.fillRect(0, 0, padSide, padSide);
  }

  #clear(): void {
    this.#wipe();
    this.empty = true;
  }

  #onDown(event: PointerEvent): void {
    (event.target as Element).setPointerCapture(event.pointerId);
    if (this.empty) this.#wipe();
    this.empty = false;
    this.#last = this.#placeOf(event);
    this.#line(this.#last);
  }

  #onMove(event: PointerEvent): void {
    if (this.#last) this.#line(this.#placeOf(event));
  }

  #onUp(): void {
    if (!this.#last) return;
    this.#last = undefined;
    const drawn = this.#centred();
    if (drawn) this.#give(drawn);
  }

  #placeOf(event: PointerEvent): { x: number; y: number } {
    const box = (event.target as Element).getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * padSide,
      y: ((event.clientY - box.top) / box.height) * padSide,
    };
  }

  #line(to: { x: number; y: number }): void {
    const ink = this.#ink();
    const from = this.#last ?? to;
    if (!ink) return;
    ink.strokeStyle = '#fff';
    ink.lineWidth = strokeWidth;
    ink.lineCap = 'round';
    ink.lineJoin = 'round';
    ink.beginPath();
    ink.moveTo(from.x, from.y);
    ink.lineTo(to.x, to.y);
    ink.stroke();
    this.#last = to;
  }

  /** The drawing as large as the digits the model was trained on, and as they lie. */
  #centred(): HTMLCanvasElement | undefined {
    const ink = this.#ink();
    const frame = ink && mnistFrame(ink.getImageData(0, 0, padSide, padSide).data, padSide);
    if (!ink || !frame) return undefined;
    const canvas = Object.assign(document.createElement('canvas'), { width: padSide, height: padSide });
    const context = canvas.getContext('2d');
    if (!context) return undefined;
    context.fillRect(0, 0, padSide, padSide);
    context.drawImage(ink.canvas, frame.left, frame.top, padSide * frame.scale, padSide * frame.scale);
    return canvas;
  }

  #give(canvas: HTMLCanvasElement): void {
    this.dispatchEvent(new CustomEvent<HTMLCanvasElement>('digit', { detail: canvas }));
  }
}

customElements.define('digit-pad', DigitPad);
