// The bar: the chapter, the sentence, undo, the figure's menu, class mode, language, colour scheme.

import { html, nothing, type TemplateResult } from 'lit';
import { isBundled } from '../book/bundled.js';
import { chapterIds } from '../book/chapter.js';
import { chapters, type Language } from '../book/chapters.js';
import { messageOf } from '../book/error_text.js';
import { plain } from '../book/markup.js';
import { theme } from '../book/theme.js';
import type { BookApp, Open } from './app.js';

const sun = html`<svg viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="3.6" /><path d="M9 1v2M9 15v2M1 9h2M15 9h2M3.3 3.3l1.4 1.4M13.3 13.3l1.4 1.4M3.3 14.7l1.4-1.4M13.3 4.7l1.4-1.4" /></svg>`;
const moon = html`<svg viewBox="0 0 18 18" aria-hidden="true"><path d="M14.8 11.2A6.4 6.4 0 0 1 6.8 3.2a6.4 6.4 0 1 0 8 8z" /></svg>`;
const back = html`<svg viewBox="0 0 18 18" aria-hidden="true"><path d="M4 7h7a4 4 0 0 1 0 8H7M4 7l3.2-3.2M4 7l3.2 3.2" /></svg>`;
const forth = html`<svg viewBox="0 0 18 18" aria-hidden="true"><path d="M14 7H7a4 4 0 0 0 0 8h4M14 7l-3.2-3.2M14 7l-3.2 3.2" /></svg>`;

export function bar(app: BookApp, open: Open): TemplateResult {
  const { shell, chapter, figure } = open;
  const whole = chapter.spine === 'figure' ? figure.value('t') || app.book.text : undefined;
  const { address, shelf, modelName } = app.book;
  const isOpen = isBundled(modelName) || shelf.has(modelName);
  return html`<header class="bar">
    <a class="mark" href=${address.href('next', isOpen ? {} : { m: undefined })} aria-label=${shell.home}>clearformer</a>
    ${contents(app, open)}
    ${chapter.textless ? nothing : html`<book-sentence .book=${app.book} .words=${shell} .whole=${whole}></book-sentence>`}
    <div class="tools">
      ${icon(shell.undo, back, () => address.undo(), address.canUndo)}
      ${icon(shell.redo, forth, () => address.redo(), address.canRedo)}
      ${figureMenu(app, open)}
      <button class="plain class-button" type="button" aria-pressed=${address.get('class') !== undefined} title=${shell.classTitle}
        @click=${() => app.toggleClass()}>${shell.classMode} <kbd>C</kbd></button>
      ${languages(app, open)}
      ${icon(theme.current === 'dark' ? shell.toLight : shell.toDark, theme.current === 'dark' ? sun : moon, () => theme.toggle(), theme.isFree)}
    </div>
  </header>`;

  /** Without a use it is disabled, which hides it. */
  function icon(label: string, picture: TemplateResult, act: () => void, useful = true): TemplateResult {
    return html`<button class="plain icon" type="button" title=${label} aria-label=${label} ?disabled=${!useful} @click=${act}>${picture}</button>`;
  }

  function contents({ book, popup }: BookApp, { shell: words }: Open): TemplateResult {
    const number = chapterIds.indexOf(chapter.id);
    return html`<nav class="where" aria-label=${words.chaptersMenu}>
      <button class="plain" type="button" aria-expanded=${popup === 'contents'} @click=${() => app.toggle('contents')}><b>${number}</b>${plain(words.chapters[chapter.id].title)}</button>
      ${
        popup !== 'contents'
          ? nothing
          : html`<div class="pop">
        ${chapters.map(
          ({ id }) =>
            html`<a href=${book.address.href(id)} aria-current=${id === chapter.id ? 'page' : nothing} @click=${() => {
              app.popup = undefined;
            }}><i>${chapterIds.indexOf(id)}</i>${words.chapters[id].title}</a>`,
        )}
      </div>`
      }
    </nav>`;
  }

  function figureMenu({ popup, book, menuFailure }: BookApp, { figure }: Open): TemplateResult {
    const menu =
      menuFailure === undefined
        ? html`<figure-menu .figure=${figure} .link=${book.address.link()} .language=${open.language} @close=${() => app.close()} @failed=${({ detail }: CustomEvent) => app.menuFailed(detail)}><p role="status">${shell.loading} …</p></figure-menu>`
        : html`<div role="alert"><p>${messageOf(menuFailure)}</p><button type="button" class="primary" @click=${app.retryMenu}>${shell.retry}</button></div>`;
    return html`<div class="holder">
      <button class="plain" type="button" aria-expanded=${popup === 'figure'} @click=${() => app.toggle('figure')}>${shell.figure}</button>
      ${popup === 'figure' ? html`<div class="pop right">${menu}</div>` : nothing}
    </div>`;
  }

  function languages({ book }: BookApp, { language }: Open): TemplateResult {
    const other: Language = language === 'en' ? 'de' : 'en';
    return html`<button class="plain" type="button" lang=${other} title=${other === 'de' ? 'Deutsch' : 'English'} aria-label=${other === 'de' ? 'DE: Deutsch' : 'EN: English'}
      @click=${() => {
        book.language = other;
      }}>${other.toUpperCase()}</button>`;
  }
}
