/**
 * The text as one word of a POSIX shell's command line (XCU §2.2.2): as it is where no character of it means
 * anything there, else in single quotes.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
