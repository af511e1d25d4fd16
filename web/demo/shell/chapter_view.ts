// The view of a chapter: its introduction, its steps with the sticky figure, its questions, and links to its
// neighbours.

import { html, nothing, type TemplateResult } from 'lit';
import type { ChapterId } from '../book/chapter.js';
import { computed, markup } from '../book/markup.js';
import type { BookApp, Open } from './app.js';

export function chapterView(app: BookApp, open: Open): TemplateResult {
  const { chapter, figure } = open;
  if (chapter.layout === 'home')
    return html`<div class="home"><div class="figure">${figure}</div>${after(app, open)}</div>`;
  if (chapter.layout === 'wide') {
    return html`<div class="wide">${intro(app, open)}<div class="figure">${figure}</div>${steps(app, open)}</div>${after(app, open)}`;
  }
  return html`<div class="beside">
      <div class="prose-column">${intro(app, open)}${steps(app, open)}</div>
      <div class="figure">${figure}</div>
    </div>
    ${after(app, open)}`;
}

function intro({ book }: BookApp, { words, figure }: Open): TemplateResult {
  return html`<div class="intro"><h1>${words.title}</h1><div class="prose"><p>${markup(computed(words.lead, figure.values), figure.values, book.address)}</p></div></div>`;
}

function steps(app: BookApp, { chapter, words, figure, shell }: Open): TemplateResult {
  const { address } = app.book;
  const at = app.steps.index(chapter);
  return html`<div class="steps">${chapter.steps.map(({ id, defaults = {} }, i) => {
    const text = words.steps[id];
    const touched = i === at && Object.keys(defaults).some((key) => address.get(key) !== undefined);
    const values = figure.valuesAt(id);
    return html`<section class="step ${i === at ? 'on' : ''}" data-step=${id} tabindex="-1" aria-current=${i === at ? 'step' : nothing}>
      <h2>${markup(text?.title ?? '', values, address)}</h2>
      <div class="prose">
        <p>${markup(computed(text?.text ?? '', values), values, address)}</p>
        ${touched ? html`<p class="step-tools"><button type="button" class="plain" @click=${() => asInTheBook(app, Object.keys(defaults))}>${shell.asInTheBook}</button></p>` : nothing}
      </div>
    </section>`;
  })}</div>`;
}

/** Resets the reader's choices to the step's defaults. */
function asInTheBook({ book }: BookApp, keys: readonly string[]): void {
  book.address.set(Object.fromEntries(keys.map((key) => [key, undefined])), 'push');
}

function after(app: BookApp, { chapter, words, shell, figure }: Open): TemplateResult {
  const [before, next] = [app.neighbour(-1), app.neighbour(1)];
  const way = (id: ChapterId | undefined, label: string): TemplateResult =>
    id
      ? html`<a href=${app.book.address.href(id)}><small>${label}</small>${shell.chapters[id].title}</a>`
      : html`<span></span>`;
  return html`<div class="after">
    <book-questions .book=${app.book} .words=${shell} .chapter=${chapter} .chapterWords=${words} .values=${figure.values}></book-questions>
    <nav class="way" aria-label=${shell.contents}>${way(before, shell.previousChapter)}${way(next, shell.nextChapter)}</nav>
  </div>`;
}
