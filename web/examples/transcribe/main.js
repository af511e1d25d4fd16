// Subtitles of an audio file: node main.js MODEL FILE.wav > FILE.vtt

import { pipeline } from 'clearformer';

const [source, file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node main.js MODEL FILE.wav');

const transcribe = await pipeline('automatic-speech-recognition', source);
const { chunks } = await transcribe(file, { return_timestamps: true });
await transcribe.dispose();

/** Seconds as hours:minutes:seconds.thousandths. */
const clock = (seconds) => new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);

console.log('WEBVTT');
for (const { timestamp, text } of chunks) {
  const [start, end] = timestamp;
  console.log(`\n${clock(start)} --> ${clock(end ?? start)}\n${text.trim()}`); // no end time: the speech was cut off
}
