// A component that writes stories with the hook.

import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useStory } from './use_story.js';

function Story() {
  const { state, text, write, stop } = useStory('/stories260K');
  const [beginning, setBeginning] = useState('Once upon a time');
  return (
    <main>
      <h1>A model as a hook</h1>
      <input aria-label="beginning" value={beginning} onChange={({ target }) => setBeginning(target.value)} />
      <button type="button" disabled={state !== 'ready'} onClick={() => write(beginning)}>
        Write
      </button>
      <button type="button" disabled={state !== 'writing'} onClick={stop}>
        Stop
      </button>
      <p id="story">{text}</p>
      <p id="state">{String(state)}</p>
    </main>
  );
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Story />
  </StrictMode>,
);
