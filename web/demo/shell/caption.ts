// Class mode: the step's text below the figure in large type, and the question before the answer.

import { html, nothing, type TemplateResult } from 'lit';
import { beginning, computed, filled, markup, plain } from '../book/markup.js';
import type { BookApp, Open } from './app.js';

/** Characters of three lines; longer texts show their first sentences, and the rest on request. */
const most = 270;

export function caption(app: BookApp, { chapter, words, shell, figure }: Open): TemplateResult | typeof nothing {
  const { address } = app.book;
  if (address.get('class') === undefined || chapter.steps.length === 0) return nothing;
  const at = app.steps.index(chapter);
  const step = chapter.steps[at];
  const texts = words.steps[step?.id ?? ''];
  if (!step || !texts) return nothing;
  const asking = step.predict === true && !app.revealed && texts.ask !== undefined;
  const count = filled(shell.step, { step: at + 1, of: chapter.steps.length });
  const whole = asking ? (texts.ask ?? '') : computed(texts.text, figure.values);
  const shown = app.wholeCaption ? whole : beginning(whole, (text) => plain(text, figure.values).length <= most);
  return html`<footer class="caption">
    <span class="count" aria-label=${count}>${at + 1} / ${chapter.steps.length}</span>
    <p role="status">${markup(shown, figure.values, address)}${
      shown === whole
        ? nothing
        : html`<button type="button" class="ask rest" aria-label=${shell.wholeText} title=${shell.wholeText} @click=${() => {
            app.wholeCaption = true;
          }}>…</button>`
    }</p>
    ${
      asking
        ? html`<button class="primary" type="button" @click=${() => app.forward()}>${shell.show}</button>`
        : html`<span class="step-buttons"><button class="plain" type="button" aria-label=${shell.back} @click=${() => app.backward()}>←</button><button class="plain" type="button" aria-label=${shell.next} @click=${() => app.forward()}>→</button></span>`
    }
  </footer>`;
}
