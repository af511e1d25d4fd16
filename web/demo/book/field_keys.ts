// Keys in a field of text: Enter confirms what is typed, Escape leaves the field.

/** What a key asks for; nothing while it chooses what an input method offers, after which WebKit still sends it, as 229. */
export function fieldKey({ key, shiftKey, isComposing, keyCode }: KeyboardEvent): 'confirm' | 'leave' | undefined {
  if (isComposing || keyCode === 229) return undefined;
  if (key === 'Escape') return 'leave';
  return key === 'Enter' && !shiftKey ? 'confirm' : undefined;
}
