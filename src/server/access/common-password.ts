import { readFile } from 'node:fs/promises'

let list: Promise<ReadonlySet<string>> | undefined

/**
 * True for a commonly used password, in any case: one in src/common-passwords, or one of these repeated. NIST
 * SP 800-63B-4 §3.1.1.2 requires to refuse them.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= readList().catch((error: unknown) => {
    // Retry with the next password: there may have been too many open files.
    list = undefined
    throw error
  })
  const common = await list
  const text = password.toLowerCase()
  return common.has(text) || common.has(unitOf(text))
}

/** Reads the list when first needed: most runs set no password. */
async function readList(): Promise<ReadonlySet<string>> {
  const text = await readFile(new URL('../../common-passwords/passwords.txt', import.meta.url), 'utf8')
  return new Set(text.trimEnd().split('\n'))
}

/** Returns the shortest text of which this one is a repetition, `abc` for `abcabcabc`, or the text itself. */
function unitOf(text: string): string {
  // A repetition occurs in its doubled text before the second half.
  return text.slice(0, `${text}${text}`.indexOf(text, 1))
}
