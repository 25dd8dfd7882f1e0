/** Quotes a text as one word of a POSIX shell's command line (XCU §2.2.2), unless it needs no quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
