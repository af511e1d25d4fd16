// Answers as they are typed, and verdicts that belong to what is asked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

describe('a number', () => {
  it.each([
    ['block', 'weights', ['33024', '33,024', '33.024', '33 024', '33’024', '33 024'], ['33,025', '33.02', '330,24']],
    ['where', 'turn', ['19.9', '19,9', ' 19.87 '], ['199', '1,99', '']],
  ])('of %s, %s may be written with any mark of thousands and of decimals', async (chapter, id, right, wrong) => {
    const { page } = await site.visit(chapter);
    for (const answer of right) await answerQuestion(page, id, answer, 'right');
    for (const answer of wrong) await answerQuestion(page, id, answer, 'wrong');
  });

  it('of per cent may have its sign', async () => {
    const { page } = await site.visit('saying');
    await answerQuestion(page, 'colder', '98.6 %', 'right');
    await answerQuestion(page, 'colder', '98,6', 'right');
    await answerQuestion(page, 'colder', '9.86 %', 'wrong');
  });
});

it('a question names its group and describes its field', async () => {
  const { page } = await site.visit('saying');
  const group = page.getByRole('group', { name: /^Temperature 0.5, nothing cut/ });
  const field = group.getByRole('textbox', { name: 'Your answer' });
  const asked = await page.locator('[data-question="colder"] .prose').innerText();
  expect(await field.evaluate((node) => node.ariaDescribedByElements?.map(({ textContent }) => textContent))).toEqual([
    asked,
  ]);
});

it('are about what the figure shows: the step’s defaults, and the nearest of what there is', async () => {
  const { page } = await site.visit('cost?d=1e9');
  for (const [address, id, answer, verdict, says = ''] of [
    ['cost?d=1e9', 'crossing', '1024', 'right'],
    ['cost?d=x', 'crossing', '1', 'right'],
    ['cost?n=-3', 'doubling', '4', 'right'],
    ['saying?step=3&p=0.6&k=0', 'three', undefined, 'right'],
    ['saying?step=1&p=7&temp=x', 'three', undefined, 'wrong'],
    ['where?delta=-44', 'back', undefined, 'wrong'],
    ['where?delta=44&i=0', 'back', undefined, 'right'],
    ['where?delta=44&i=40', 'back', undefined, 'wrong'],
    ['set?step=5', 'masked', undefined, 'right'],
    ['set?step=5&letters=AA', 'masked', undefined, 'wrong'],
    ['translate?step=5', 'forced', { option: 'Check' }, 'right'],
    ['cost?n=64', 'crossing', 'x', 'wrong', 'A length is a whole number of tokens.'],
    ['cost?n=64', 'crossing', '1', 'wrong', 'At n = 1 attention takes 128, a recurrent layer'],
    ['seeing?step=4', 'nearest', '50', 'wrong', 'There is no such place.'],
    ['seeing?step=4', 'nearest', '1', 'wrong', 'Its cosine is −0.12; another place has 0.37.'],
    ['laboratory', 'dearest', { option: 'L4H2' }, 'right', 'changes by −0.68'],
    ['block', 'needed', { option: '3A' }, 'wrong', '% instead of 75.0'],
    ['translate', 'source', { option: '3 is' }, 'wrong', 'While it writes “chat” it gives “is” 4'],
    ['heads?step=4', 'half', undefined, 'wrong', 'Heads off: 1'],
    ['block?step=7', 'other', undefined, 'wrong', 'Boxes out: 1'],
    ['seeing?step=7', 'blind', { option: 'Check' }, 'right'],
  ] as const) {
    await site.go(page, address);
    await answerQuestion(page, id, answer, verdict);
    const told = await page.locator(`[data-question="${id}"] .verdict`).innerText();
    expect(told, address).not.toContain('not valid');
    expect(told, address).toContain(says);
  }
});

it('a verdict goes when another sentence is asked about', async () => {
  const { page } = await site.visit('saying');
  const verdict = page.locator('[data-question="colder"] .verdict');
  await answerQuestion(page, 'colder', '98.6', 'right');
  await site.go(page, 'saying?t=Once+upon+a+time');
  expect(await verdict.count()).toBe(0);
  await page.goBack();
  await settled(page);
  expect(await verdict.count()).toBe(1);
});

it('asks about the story model’s weights whatever model is carried', async () => {
  const { page } = await site.visit('block?m=gpt-nano-sort&t=CAB');
  await answerQuestion(page, 'weights', '33024', 'right');
});
