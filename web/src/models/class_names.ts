// The names of transformers' classes in config.json.

/** How transformers names the class of a task, after the model type's name. */
const heads: Readonly<Record<string, string>> = {
  base: 'Model',
  'masked-lm': 'ForMaskedLM',
  'sequence-classification': 'ForSequenceClassification',
  'token-classification': 'ForTokenClassification',
  'question-answering': 'ForQuestionAnswering',
  'replaced-token-detection': 'ForPreTraining',
  'image-classification': 'ForImageClassification',
  ctc: 'ForCTC',
};

/** The class for a task of the model whose class for some task is `named`. */
export function classFor(task: string, named: string): string {
  const head = heads[task];
  if (head === undefined || (head !== 'Model' && named.includes(head))) return named;
  return named.replace(/(LMHeadModel|For[A-Z]\w*|Model)$/, head);
}
