/** Formats a table in Markdown. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Formats text as code in a cell of a table. */
export function code(words: string): string {
  return `\`${words.replaceAll('|', '\\|')}\``
}

/** Escapes text for a cell of a table. */
export function text(words: string): string {
  return words.replaceAll('\n', ' ').replace(/[|<]/g, '\\$&')
}
