/** The digits of base62, the least first: what credentials are written with. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checkLength = 6

/** How the text of each kind of credential begins, so that a leaked one says what it is. */
export const credentialPrefixes = {
  apiKey: 'lpk_',
  accessToken: 'lpa_',
  refreshToken: 'lpr_',
  authorizationCode: 'lpc_',
  deviceCode: 'lpd_',
  clientSecret: 'lps_',
  browserSession: 'lpb_',
} as const
/** A kind of credential that an academy gives out. */
export type CredentialName = keyof typeof credentialPrefixes

/** How many characters of chance a credential has, in base62: 178 bits. */
export const credentialRandomLength = 30

/** The credential around some chance: its prefix before it, six check characters after it. */
export function credentialAround(name: CredentialName, random: string): string {
  return credentialPrefixes[name] + random + checkOf(random)
}

/** True for a text that was copied as a whole: the form of that kind, and check characters that fit. */
export function isCredential(name: CredentialName, text: string): boolean {
  const prefix = credentialPrefixes[name]
  const random = text.slice(prefix.length, -checkLength)
  return /^[0-9A-Za-z]{30}$/.test(random) && credentialAround(name, random) === text
}

/** CRC-32 in base62. Few runs meet a credential of ours, and loading zlib takes as long as all of them together. */
function checkOf(random: string): string {
  let rest = process.getBuiltinModule('node:zlib').crc32(random)
  let text = ''
  for (let index = 0; index < checkLength; index += 1) {
    text = (base62[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}
