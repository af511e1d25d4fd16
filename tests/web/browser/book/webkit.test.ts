// The page in WebKit (webkit.ts): the first steps of every chapter, the numbers of all deep links, and models that come and
// go with their threads. determinism.test.ts compares the bits.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { isolation, type PageServer, servePage } from '../page_server.js';
import { pageProgram, serveProject } from '../project_page.js';
import { figureSettled, turnTo } from '../site.js';
import { WebKitPage, webKitDriver } from '../webkit.js';
import { brokenLooks, figureOverflow } from './reader.js';
import { acrossBuilds, expectNumbers } from './shown_numbers.js';
import { all } from './subjects/index.js';
import { Library } from './subjects/subject.js';

const index = fileURLToPath(new URL('../../../../build/page/index.html', import.meta.url));
/** Collects what goes wrong, before the page's own script. A figure that is drawn at its width is observed once more. */
const listening = `<script>window.complaints = [];
  const complain = (text) => /^ResizeObserver loop/.test(text) || complaints.push(text);
  for (const kind of ['error', 'warn']) console[kind] = (...given) => complain(given.join(' '));
  addEventListener('error', ({ message }) => complain(message));
  addEventListener('unhandledrejection', ({ reason }) => complain(String(reason)));</script>`;

declare global {
  interface Window {
    complaints: string[];
  }
}

/** A window takes a while to have its new size. */
async function laidOutNow(): Promise<void> {
  for (let [width, quiet] = [innerWidth, 0]; quiet < 4; quiet++) {
    await new Promise(requestAnimationFrame);
    if (innerWidth !== width) [width, quiet] = [innerWidth, 0];
  }
}

const newComplaints = (): string[] => window.complaints.splice(0);

describe.skipIf(webKitDriver === '')('WebKit', () => {
  describe('the page', () => {
    let server: PageServer;
    let page: WebKitPage;
    const library = new Library();
    const resize = async (width: number) => {
      await page.resize(width, 900);
      await page.evaluate(laidOutNow);
    };
    const go = async (address: string) => {
      await page.evaluate(turnTo, `#/${address}`);
      await page.evaluate(figureSettled);
    };
    beforeAll(async () => {
      server = await servePage();
      server.replaced.set('index.html', (await readFile(index, 'utf8')).replace('<head>', `<head>${listening}`));
      page = await WebKitPage.open(server.url);
      await page.evaluate(figureSettled);
    });
    afterAll(async () => {
      await page?.close();
      server.close();
      await library.dispose();
    });

    it.each([1440, 1024, 390].flatMap((width) => chapters.map(({ id }) => ({ width, id }))))(
      '$width px: $id',
      async ({ width, id }) => {
        await resize(width);
        for (let step = 0; step < 3; step++) {
          await go(`${id}?step=${step}`);
          await expect.poll(() => brokenLooks(page), { message: `step ${step}` }).toEqual([]);
          if (width > 900) {
            const overflow = () => page.evaluate(figureOverflow);
            await expect.poll(overflow, { message: `step ${step}: too wide` }).toBeLessThanOrEqual(0);
          }
        }
        expect(await page.evaluate(newComplaints)).toEqual([]);
      },
    );

    describe('the numbers of deep links', () => {
      beforeAll(() => resize(1440));

      it.each(all.map((subject) => [`${subject.address}: ${subject.source}`, subject] as const))(
        '%s',
        async (_, subject) => {
          await go(subject.address);
          await expectNumbers(page, subject, library, acrossBuilds);
          expect(await page.evaluate(newComplaints)).toEqual([]);
        },
      );
    });
  });

  it('has no end of models with threads, one after the other', async () => {
    const { server, url } = await serveProject(isolation);
    const page = await WebKitPage.open(url);
    const program = async (count: number) => {
      const { AutoModelForCausalLM } = await import('/dist/index.js' as string);
      const used: number[] = [];
      for (let i = 0; i < count; i++) {
        const model = await AutoModelForCausalLM.from_pretrained('/web/demo/public/models/stories260K', {
          numThreads: 3,
        });
        used.push(model.info().threads.used);
        await model.dispose();
      }
      return used;
    };
    expect(await page.evaluate(pageProgram(program, 40))).toEqual(Array(40).fill(3));
    await page.close();
    server.close();
  });
});
