// Large whole numbers in prose and figures.

/**
 * In groups of three digits with a narrow space between them, in every language: a comma or a point would be read as a
 * decimal sign beside the page's decimal points.
 */
export const grouped = (value: number): string => value.toLocaleString('en').replaceAll(',', '\u202F');
