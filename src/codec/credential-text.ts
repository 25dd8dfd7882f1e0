/** Digits of base62, the least significant first. Credentials are written with them. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checkLength = 6

/** Prefix of each kind of credential, so that secret scanners recognise a leaked one. */
export const credentialPrefixes = {
  apiKey: 'lpk_',
  accessToken: 'lpa_',
  refreshToken: 'lpr_',
  authorizationCode: 'lpc_',
  deviceCode: 'lpd_',
  clientSecret: 'lps_',
  browserSession: 'lpb_',
} as const
export type CredentialName = keyof typeof credentialPrefixes

/** 30 characters in base62 are 178 bits. */
export const credentialRandomLength = 30

/** The prefix comes before the random characters, six check characters come after them. */
export function formatCredential(name: CredentialName, random: string): string {
  return credentialPrefixes[name] + random + checksumOf(random)
}

export function isCredential(name: CredentialName, text: string): boolean {
  const prefix = credentialPrefixes[name]
  const random = text.slice(prefix.length, -checkLength)
  return /^[0-9A-Za-z]{30}$/.test(random) && formatCredential(name, random) === text
}

/** Loads zlib only when called, because that takes as long as all checks of a run. */
function checksumOf(random: string): string {
  let rest = process.getBuiltinModule('node:zlib').crc32(random)
  let text = ''
  for (let index = 0; index < checkLength; index += 1) {
    text = (base62[rest % 62] ?? '') + text
    rest = Math.floor(rest / 62)
  }
  return text
}
