// Answers to a chapter's questions, given by keyboard: the page may still scroll to a step or change its texts' heights
// after the figure is drawn, and a click is lost if its button moves between press and release.

import type { Page } from 'playwright-core';

/** Writes `answer` into a question's field, or presses its button of that name, or its only one; waits for the verdict. */
export async function answerQuestion(
  page: Page,
  id: string,
  answer: string | { option: string } | undefined,
  verdict: 'right' | 'wrong',
): Promise<void> {
  const question = page.locator(`[data-question="${id}"]`);
  await question.scrollIntoViewIfNeeded();
  if (typeof answer === 'string') {
    await question.getByRole('textbox').fill(answer);
    await question.getByRole('textbox').press('Enter');
  } else {
    await question.getByRole('button', answer && { name: answer.option }).press('Enter');
  }
  await question.locator(`.verdict.${verdict}`).waitFor();
}
