import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checkLength = 6

/** The beginning of every API key. */
export const keyPrefix = 'lpk_'

/** How many characters of chance an API key has, in base62: 178 bits. */
export const keyRandomLength = 30

/** The key around some chance: the prefix before it, six check characters after it (api.md §2, "API keys"). */
export function keyAround(random: string): string {
  return keyPrefix + random + checkOf(random)
}

/** True for a text that was copied as a whole: a key's form, and check characters that fit. */
export function isKey(text: string): boolean {
  return /^lpk_[0-9A-Za-z]{36}$/.test(text) && keyAround(text.slice(keyPrefix.length, -checkLength)) === text
}

/** CRC-32 in base62. */
function checkOf(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let index = 0; index < checkLength; index += 1) {
    text = (alphabet[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}
