import { OAuthError } from './oauth-error.ts'
import { parameter } from './parameter.ts'

/** What a client may ask of the pages that a person is shown (OpenID Connect Core §3.1.2.1). */
export const promptValues = ['none', 'login', 'consent', 'select_account'] as const

/** One of those. */
export type Prompt = (typeof promptValues)[number]

/**
 * The pages that are asked for, none where nothing is said: everybody is asked for consent, and may choose another account
 * there. Throws `invalid_request` for what cannot be honoured.
 */
export function promptsOf(query: URLSearchParams): readonly Prompt[] {
  const given = parameter(query, 'prompt')?.split(' ') ?? []
  const known = promptValues.filter((value) => given.includes(value))
  if (known.length !== new Set(given).size) {
    throw new OAuthError('invalid_request', `The prompt must be one or more of ${promptValues.join(', ')}.`)
  }
  if (known.includes('none') && known.length > 1) {
    throw new OAuthError('invalid_request', 'The prompt none cannot be combined with others.')
  }
  return known
}
