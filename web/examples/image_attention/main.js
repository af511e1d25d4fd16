// Classifies an image; red marks the patches that matter, by attention rollout from the class token over all layers.

import { AutoImageProcessor, AutoModelForImageClassification, attentionRollout, softmax } from 'clearformer';

const source = new URL('vit-mnist/', document.baseURI);
const processor = await AutoImageProcessor.from_pretrained(source);
const model = await AutoModelForImageClassification.from_pretrained(source);
const [file, canvas, answer] = ['file', 'picture', 'answer'].map((id) => document.getElementById(id));

async function classify(picture) {
  const { logits, attentions } = await model(await processor(picture), { output_attentions: true });
  const shares = (await softmax(logits)).data;
  const best = shares.indexOf(Math.max(...shares));
  await draw(picture, attentionRollout(attentions));
  answer.textContent = `${model.config.id2label[best]} (${(100 * shares[best]).toFixed(1)} %)`;
}

async function draw(picture, rollout) {
  const [layers, , tokens] = rollout.dims; // [layer, batch, query, key]
  const row = (layers - 1) * tokens ** 2; // of the class token, after the last layer
  const looked = rollout.data.slice(row + 1, row + tokens);
  const side = Math.sqrt(looked.length);
  const most = Math.max(...looked);
  const context = canvas.getContext('2d');
  const cell = canvas.width / side;
  context.drawImage(await createImageBitmap(picture), 0, 0, canvas.width, canvas.height);
  looked.forEach((share, i) => {
    context.fillStyle = `rgb(255 0 0 / ${(0.7 * share) / most})`;
    context.fillRect((i % side) * cell, Math.floor(i / side) * cell, cell, cell);
  });
}

file.addEventListener('change', () =>
  classify(file.files[0]).catch(({ message }) => {
    answer.textContent = message;
  }),
);
answer.textContent = 'choose a picture of a digit, white on black';
