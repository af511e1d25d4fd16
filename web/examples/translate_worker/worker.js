// The page's own worker: loads the translator on the first question, then answers each.

import { pipeline } from 'clearformer';

let translator;

self.addEventListener('message', async ({ data: { id, source, text } }) => {
  try {
    translator ??= pipeline('translation', source, { worker: false }); // this is already a worker
    const [{ translation_text }] = await (await translator)(text);
    self.postMessage({ id, text: translation_text });
  } catch (error) {
    self.postMessage({ id, fault: error.message });
  }
});
