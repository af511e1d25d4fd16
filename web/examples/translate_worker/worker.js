// A worker of the page's own: loads the translator at the first question, then answers each.

import { pipeline } from 'clearformer';

let translator;

self.addEventListener('message', async ({ data: { id, source, text } }) => {
  try {
    translator ??= pipeline('translation', source, { worker: false }); // this is a worker already
    const [{ translation_text }] = await (await translator)(text);
    self.postMessage({ id, text: translation_text });
  } catch (error) {
    self.postMessage({ id, fault: error.message });
  }
});
