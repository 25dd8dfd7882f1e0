import { readFile } from 'node:fs/promises'

let list: Promise<ReadonlySet<string>> | undefined

/**
 * True for a password that others guess first, in any case: one of the list in src/common-passwords, or such a one
 * several times in a row. NIST SP 800-63B-4 §3.1.1.2 has these refused.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= readList().catch((error: unknown) => {
    // The next password may find it: too many files may have been open.
    list = undefined
    throw error
  })
  const common = await list
  const text = password.toLowerCase()
  return common.has(text) || common.has(unitOf(text))
}

/** Most runs of the program set no password. */
async function readList(): Promise<ReadonlySet<string>> {
  const text = await readFile(new URL('../../common-passwords/passwords.txt', import.meta.url), 'utf8')
  return new Set(text.trimEnd().split('\n'))
}

/** The shortest text that this one is several times in a row, `abc` for `abcabcabc`; itself where there is none. */
function unitOf(text: string): string {
  // A text is found again inside two of itself, before its end, where it has a unit.
  return text.slice(0, `${text}${text}`.indexOf(text, 1))
}
