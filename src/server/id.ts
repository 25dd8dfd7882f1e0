import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz'

/** The prefixes of ids, one for each kind of thing (api.md §1, "Ids"). */
export type IdPrefix = 'crs' | 'les' | 'usr' | 'enr' | 'key' | 'req' | 'mod' | 'blk' | 'asm' | 'qst'

/** Makes ids: prefix, nine characters of the time in ms, twelve of chance (62 bits), sortable by time. */
export function idMaker(now: () => Date): (prefix: string) => string {
  return (prefix) => `${prefix}_${now().getTime().toString(36).padStart(9, '0')}${randomText(12)}`
}

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    // 252 is the largest multiple of 36 in a byte: above it, some letters would come up more often.
    for (const byte of randomBytes(length))
      if (byte < 252 && text.length < length) text += alphabet[byte % 36]
  }
  return text
}
