const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/**
 * A horizontal bar of block characters, exact to an eighth of a column.
 *
 * @param part of the full length, 0 to 1
 * @param width of the full length, in columns
 */
export function bar(part: number, width: number): string {
  const steps = Math.round(Math.min(1, Math.max(0, part)) * width * 8)
  const text = '█'.repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? '')
  // What is there at all is to be seen.
  return text === '' && part > 0 ? '▏' : text
}
