import { join } from 'node:path'
import { profileTokenSource, type TokenSource } from '../../auth/token-source.ts'
import { shellWord } from '../../codec/display-text.ts'
import {
  createProfileStore,
  credentialOf,
  type ProfileStore,
  type StoredTokens,
} from '../../config/profiles.ts'
import { AuthRequiredError } from '../terminal/errors.ts'
import type { Context } from './context.ts'

export const sheetsUrl = 'https://sheets.googleapis.com'

export const googleProfile = 'google'

export interface GoogleAccess {
  readonly tokens: TokenSource
  /** Command that signs in again with the same client. */
  readonly signInCommand: string
}

/** Throws an AuthRequiredError without a stored sign-in. */
export function openGoogleAccess(context: Context): GoogleAccess {
  const { io, session, output } = context
  const store = googleStore(context)
  const tokens = googleTokens(store)
  if (tokens === null) {
    throw new AuthRequiredError('Not signed in to Google Sheets', {
      hint: `Sign in: ${googleSignInCommand('<id>')}; docs/integrations/google-sheets.md has the steps`,
    })
  }
  const again = googleSignInCommand(tokens.clientId)
  return {
    signInCommand: again,
    tokens: profileTokenSource({
      tokens,
      profile: googleProfile,
      store,
      signal: io.signal,
      now: io.now,
      fetch: session.fetch,
      note: output.note,
      signInCommand: again,
      onRefreshed: () => {},
    }),
  }
}

export function googleStore({ directories, io }: Context): ProfileStore {
  return createProfileStore(join(directories.config, 'google'), io)
}

export function googleTokens(store: ProfileStore): StoredTokens | null {
  const credential = credentialOf(store.read(), googleProfile)
  return credential?.kind === 'oauth' ? credential : null
}

export function googleSignInCommand(clientId: string): string {
  const id = clientId.startsWith('<') ? clientId : shellWord(clientId)
  return `learnctl auth google --client-id ${id} --client-secret-stdin < secret.txt`
}
