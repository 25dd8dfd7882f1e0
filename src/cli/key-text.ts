const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Whether a key was copied as a whole: `lpk_`, 30 characters, and 6 of CRC-32 over those (api.md §2, "API keys"). */
export async function isWholeKey(key: string): Promise<boolean> {
  const [, random = '', check] = /^lpk_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(key) ?? []
  if (check === undefined) return false
  const { crc32 } = await import('node:zlib')
  let rest = crc32(random)
  let text = ''
  for (let index = 0; index < 6; index += 1) {
    text = (alphabet[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text === check
}
