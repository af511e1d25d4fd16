// The prose holds for every value of the controls: a sentence that is true of some values only is there with these only.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site } from '../site.js';
import { shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const step = (page: Page): Promise<string> => page.locator('.step.on').innerText();

describe.each([
  ['vectors?step=6', ['multiplies its token rows by √d'], ['length']],
  ['set?step=1', ['not one number changes'], []],
  ['set?step=1&pos=1', ['With positions or a mask the numbers change'], ['not one number changes']],
  ['set?step=2&mask=1', ['the weights are others'], ['What is left of that is rounding']],
  ['set?step=4', ['the meter jumps: now it shows'], []],
  ['set?step=4&pos=0', ['take its place along'], ['now it shows']],
  ['set?step=1&pos=1&o=', ['Drag the letters'], ['the numbers change']],
  ['set?step=3&mask=1&letters=AAA', ['twins apart'], ['differ']],
  ['set?step=4&o=', ['and the meter jumps.'], ['now it shows', 'falls back']],
  ['set?step=5&o=', ['Who is last sees all'], ['So another order shows']],
  ['set?step=5&mask=0', ['a causal mask'], ['So another order shows']],
  ['set?step=6&o=0.1.2.3.4.5.6.7.8', ['it still goes on with “She”'], ['and not with']],
  ['set?step=6&t=%20%20', ['Read in this order, “␣␣␣”, it still'], ['“”']],
  ['where?step=2', ['the last digit of the numbers'], []],
  ['where?step=1&d=1', ['Drag i down the table'], ['goes round in']],
  ['where?step=2&sines=1', ['Without the cosines no matrix does it'], ['So one 2 × 2 matrix', 'the last digit']],
  ['where?step=2&d=1&misprint=1', ['Without the cosines no matrix does it'], ['2 × 2', 'Mend it']],
  ['where?step=2&misprint=1', ['With the misprint the product misses the table'], ['the last digit']],
  ['where?step=8&q=0', ['the distance, now −8'], []],
  ['where?step=4', ['Exactly the same they never are'], ['Some are exactly the same']],
  ['where?step=4&d=8', ['no other row looks like row 1'], ['are marked']],
  ['where?step=4&d=1', ['Some are exactly the same'], ['never are']],
  ['head?step=7&q=7', ['let ar give Lily more than half its weight'], []],
  ['head?step=7&q=0', ['let Lily give Lily more than half its weight. Now 0.13.'], ['let <s>']],
  ['cost?step=2', ['needs only 0.25 of the multiplications'], ['no longer short']],
  ['cost?step=2&n=256', ['With n = 256 and d = 64 it needs 4.00 times as many'], ['needs only', 'below d']],
  [
    'cost?step=3',
    ['hands the first word on 127 times', 'n / k, here 43 layers', 'both ends meet after 64', 'count as section 4'],
    [],
  ],
  ['cost?step=3&n=2', ['hands the first word on 1 time.', 'here 1 layer, for'], ['1 times', '1 layers']],
  ['masks?step=0', ['So everything right of the diagonal is hatched: 45 cells'], []],
  ['masks?step=0&mask=none', ['may read only what is there already'], ['is hatched']],
  ['masks?step=0&t=a', ['So the one cell right of the diagonal is hatched'], ['1 cell']],
  ['masks?step=3&t=a', ['What either hides is hidden: one cell.'], ['1 cell']],
  ['masks?step=1', ['in all heads of all layers', 'had to come through attention'], ['in this head']],
  ['masks?step=1&t=a', ['in all heads of all layers'], ['had to come through attention']],
  ['masks?step=1&where=head', ['in this head'], ['in all heads of all layers']],
  ['masks?step=1&t=%F0%9F%8E%89', ['Now nobody else may read ␣,'], ['▁']],
  ['masks?step=2&mask=both', ['valid_lens counts how many keys'], ['Nothing else is hidden']],
  ['masks?step=2&len=0', ['every token reads nothing'], ['Nothing else']],
  ['masks?step=4', ['The first 5 tokens'], ['fewer than two']],
  ['masks?step=4&pre=1', ['With fewer than two tokens'], ['The first']],
  ['masks?step=6', ['happens here: 6 of 10'], ['no row goes wrong']],
  ['masks?step=6&t=Tom', ['no row goes wrong'], ['happens here']],
  ['masks?step=2&t=Lily.', ['here 3'], []],
  ['saying?step=1', ['all others together 18.9 %', 'No token has exactly zero'], ['nearly nothing']],
  ['saying?step=1&k=3', ['all others together 18.9 %'], ['exactly zero']],
  ['saying?step=2&temp=1', ['the odds stay as they were'], ['in place of']],
  ['saying?step=3&k=1', ['Top-k of 1 keeps only the likeliest'], ['are left']],
  ['saying?step=3&k=0', ['Top-p keeps the fewest', 'What is cut'], ['Top-k keeps', 'Nothing']],
  ['saying?step=3&k=0&p=1', ['Nothing is cut: “She” has 46.7 %'], ['What is cut']],
  ['saying?step=4', ['different tokens came', 'Turn again'], ['no other']],
  ['saying?step=4&k=1', ['no other token came'], ['different', 'Turn again']],
  ['kinds?step=4', ['what usually follows “'], ['begins with']],
  ['kinds?step=4&w=0', ['what a text usually begins with'], ['follows']],
  ['heads?step=4', ['Silent heads of block 5, by their numbers: 3.'], []],
  ['heads?step=4&edit=', [], ['Silent heads', 'had']],
  ['heads?step=0&who=gpt-nano-sort&letters=A', ['are the choices of “A”'], ['do not agree']],
  ['heads?step=10', ['40 maps of one sentence', 'to the first token: '], []],
  ['heads?step=10&t=', ['40 maps of one sentence', 'attention sink'], ['to the first token: ']],
  ['vectors?step=4', ['came to lie alike'], []],
  ['vectors?step=4&of=gpt-nano-sort', ['with a cosine of −'], ['lie alike', 'Nobody wrote']],
  ['translate?step=4', ['which word belongs to which'], []],
  ['translate?step=4&h=1', ['Every head draws another map'], ['which word belongs to which']],
  ['block?step=0', ['then the feed-forward network'], ['cross-attention', 'norm follows']],
  ['block?step=0&who=marian-tiny-en-fr.decoder', ['then cross-attention', 'a norm follows each sum'], []],
  ['block?step=1', ['nothing is overwritten', 'can still be read'], ['norm behind']],
  ['block?step=1&who=marian-tiny-en-fr.encoder', ['a norm behind each sum'], ['overwritten', 'still be read']],
  ['block?step=2&who=marian-tiny-en-fr.encoder', ['The next box reads'], ['So each box', 'stays as it was']],
  ['block?step=4&act=gelu', ['neurons on the curve of GELU', 'what SiLU lets through'], []],
  ['block?step=7&edit=', [], ['adds nothing in block']],
  ['block?step=8', ['the whole model 260 032', 'Hence its name', 'embedding once more'], ['no block']],
  ['block?step=8&who=gpt-nano-sort', ['the whole model 85 728'], ['its name', 'once more']],
  ['seeing?step=7', ['the 5 is a', 'left'], ['it still says']],
  ['seeing?step=7&hide=none', ['it still says 5'], ['is a']],
  ['seeing?step=8', ['the position of the place where it now lies'], ['None gets', 'it had']],
  ['seeing?step=8&pos=none', ['None gets a position'], ['where it now lies', 'it had']],
  ['seeing?step=8&pos=along', ['Each keeps the position vector it had'], ['where it now lies', 'None gets']],
  ['seeing?step=9', ['The scores are those of the picture in order'], []],
  ['seeing?step=9&pos=stay', ['keep the position vector it had'], ['The scores are those']],
  ['head?step=0&qkv=1+0;0+1|1+0;0+1|1+2;3+4', ['these are yours'], ['the turn', 'products']],
  ['head?step=7&qkv=1+0;0+1|1+0;0+1|1+2;3+4', ['is computed again'], ['blocks behind']],
  ['head?step=9&qkv=1+0;0+1|1+0;0+1|1+2;3+4', ['a stack of one'], ['grouped queries']],
  ['head?step=3&d=1024', ['have a variance of 1'], ['1e3']],
  ['head?step=5', ['and on w 0.05'], ['the only token']],
  ['head?step=5&q=0', ['spends all of it on <s>, the only token that it sees'], ['0.00']],
  ['head?step=5&t=', ['the only token that it sees'], ['and on']],
  ['head?step=8', ['through a matrix W', 'With W the identity'], ['M']],
  ['kinds?step=5', ['move by up to 33.39 percentage points; the decoder’s by 0.00'], ['0.3339']],
  ['head?step=6', ['The largest part of what comes out'], ['..']],
  ['laboratory?step=7', ['stay in 16 bits. Here nothing moves'], []],
  ['laboratory?step=7&m=marian-tiny-en-fr', ['stay in 16 bits.'], ['nothing moves']],
] as const)('%s', (address, says, saysNot) => {
  it('says what holds there', async () => {
    const { page, complaints } = await site.visit(address);
    const text = (await step(page)).replace(/\s+/g, ' ');
    for (const part of says) expect(text).toContain(part);
    for (const part of saysNot) expect(text).not.toContain(part);
    expect(text).not.toContain('…');
    expect(complaints).toEqual([]);
  });
});

it('neighbours are counted', async () => {
  const { page } = await site.visit('cost?step=3&n=8&k=5');
  expect(await shownText(page)).toContain('neighbours, r = 8');
  await site.go(page, 'cost?step=3');
  expect(await shownText(page)).toContain('neighbours, r = 6');
});

it('says more precisely what a meter shows, not less', async () => {
  const { page } = await site.visit('set?step=5');
  expect(await shownText(page)).toContain('(more precisely 0.123888; the largest');
  await site.go(page, 'set?step=1');
  expect(await shownText(page)).toMatch(/\(more precisely \d\.\d+e−\d; the largest/);
});

it('counts the tokens of a text as the prose does, marks apart', async () => {
  const { page } = await site.visit('vectors?step=1');
  const shown = await shownText(page);
  for (const count of ['9 tokens + <s>', '7 tokens + </s>', '6 tokens']) expect(shown).toContain(count);
  await site.go(page, 'vectors?step=4');
  expect(await shownText(page)).toContain('id 443');
});

it('a mask names no more keys than there are', async () => {
  const { page } = await site.visit('masks?step=2&t=Lily.');
  expect(await shownText(page)).toContain('Mask.valid_lens([3])');
});

it('steps that were not visited yet have their sentences', async () => {
  const { page } = await site.visit('set');
  expect(await page.locator('[data-step="why"]').innerText()).toContain('changed places just as the letters have');
  expect(await page.locator('[data-step="mask"]').innerText()).toContain('Who is last sees all');
});

it('steps that were visited have no numbers of another sentence', async () => {
  const { page } = await site.visit('masks?step=3');
  const visited = (): Promise<string> => page.locator('[data-step="both"]').innerText();
  await site.go(page, 'masks?step=4');
  expect(await visited()).toContain('hidden: 51 cells');
  await site.go(page, 'masks?step=4&t=Tom ran.');
  expect(await visited()).toContain('−∞ plus anything stays −∞');
  expect(await visited()).not.toContain('cells');
  await site.go(page, 'masks?step=4');
  expect(await visited()).toContain('hidden: 51 cells');
});

it('breaks a text without blanks', async () => {
  const { page } = await site.visit(`vectors?t=${'A'.repeat(300)}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const prose = await page.locator('.step.on .prose').evaluate((node) => node.scrollWidth - node.clientWidth);
  expect([wide, prose].every((more) => more <= 0)).toBe(true);
});
