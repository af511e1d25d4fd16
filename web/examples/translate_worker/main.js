// The page: posts questions to the worker and shows the answer to the last one.

const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const [english, translate, french] = ['english', 'translate', 'french'].map((id) => document.getElementById(id));
const source = new URL('marian-tiny-en-fr/', document.baseURI).href;
let asked = 0;

translate.addEventListener('click', () => {
  worker.postMessage({ id: ++asked, source, text: english.value });
});
worker.addEventListener('message', ({ data: { id, text, fault } }) => {
  if (id === asked) french.textContent = text ?? fault;
});
