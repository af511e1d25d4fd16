// Chapter 13: every activation of a model, edits, and the package's analyses.

import { ablateHeads, logitDifference } from 'clearformer';
import { two } from 'clearformer/elements';
import type { Chapter, Question } from '../../book/chapter.js';
import './figure.js';
import { subjectOf } from './subject.js';

/** Ablates each head and asks which matters most. */
const dearest: Question = {
  id: 'dearest',
  kind: 'choice',
  async options(book) {
    const { model } = await subjectOf(book);
    const { n_layers, n_heads } = model.cfg;
    const layer = Math.max(0, n_layers - 1);
    return Array.from({ length: n_heads }, (_, head) => `L${layer}H${head}`);
  },
  async check(book, answer) {
    const { model, inputs, right, wrong } = await subjectOf(book);
    const { changes } = await ablateHeads(model, inputs.inputs, { metric: logitDifference(right.id, wrong.id) });
    const layer = Math.max(0, model.cfg.n_layers - 1);
    const row = Array.from(changes.slice(layer).data, Math.abs);
    const best = row.indexOf(Math.max(...row));
    const change = changes.slice(layer, best).item();
    return { right: answer === `L${layer}H${best}`, values: { head: `L${layer}H${best}`, change: two(change) } };
  },
};

export const chapter: Chapter = {
  id: 'laboratory',
  layout: 'beside',
  tag: 'figure-laboratory',
  defaults: { view: 'hook', hook: 'blocks.2.attn.hook_pattern', h: '0', by: 'position', dt: 'q8' },
  steps: [
    { id: 'hook', defaults: { view: 'hook' } },
    { id: 'edit', defaults: { view: 'edit' } },
    { id: 'lens', defaults: { view: 'lens' } },
    { id: 'attribution', defaults: { view: 'attribution' } },
    { id: 'ablation', defaults: { view: 'ablation' }, predict: true },
    { id: 'patching', defaults: { view: 'patching' } },
    { id: 'detect', defaults: { view: 'detect' } },
    { id: 'compare', defaults: { view: 'compare' } },
    { id: 'export', defaults: { view: 'export' } },
  ],
  questions: [dearest],
};
