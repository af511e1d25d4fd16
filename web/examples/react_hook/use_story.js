// A language model as a React hook. The model is loaded when the component mounts and disposed of when it unmounts.

import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
import { useCallback, useEffect, useRef, useState } from 'react';

/** A story generator for the model in `source`: `state` is 'loading', 'ready', 'writing' or an Error. */
export function useStory(source) {
  const [state, setState] = useState('loading');
  const [text, setText] = useState('');
  const loaded = useRef();
  const writing = useRef();

  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    setState('loading');
    const parts = Promise.all([
      AutoTokenizer.from_pretrained(source, { signal }),
      AutoModelForCausalLM.from_pretrained(source, { signal }),
    ]);
    parts.then(
      ([tokenizer, model]) => {
        if (signal.aborted) return model.dispose();
        loaded.current = { tokenizer, model };
        setState('ready');
      },
      (error) => signal.aborted || setState(error),
    );
    return () => {
      leaving.abort();
      writing.current?.abort();
      loaded.current?.model.dispose();
      loaded.current = undefined;
    };
  }, [source]);

  const write = useCallback(async (beginning, options = {}) => {
    if (loaded.current === undefined) return;
    const { tokenizer, model } = loaded.current;
    writing.current?.abort();
    const run = new AbortController();
    writing.current = run;
    setText(beginning);
    setState('writing');
    let outcome = 'ready';
    try {
      const steps = model.generate_stream(tokenizer(beginning), {
        max_new_tokens: 200,
        ...options,
        signal: run.signal,
      });
      for await (const step of steps) setText((before) => before + step.text);
    } catch (error) {
      if (!run.signal.aborted) outcome = error;
    }
    if (writing.current === run && loaded.current !== undefined) setState(outcome);
  }, []);

  const stop = useCallback(() => writing.current?.abort(), []);
  return { state, text, write, stop };
}
