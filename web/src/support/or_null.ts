// The type of options as callers give them.

/** Options, of which null is as if not given. */
export type OrNull<Options> = { [Name in keyof Options]: Options[Name] | null };
