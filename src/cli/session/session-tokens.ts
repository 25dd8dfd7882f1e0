import { createTokenSource, type TokenSource } from '../../auth/token-source.ts'
import type { Transport } from '../../client/transport.ts'
import type { ProfileStore } from '../../config/profile-store.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Settings } from '../../config/settings.ts'
import type { Target } from '../../config/target.ts'
import type { Io } from '../terminal/io.ts'

/** Whatever is waited for an answer of the API: here other processes wait, and what comes too late is lost. */
const timeoutMs = 10_000

/** What the tokens of a profile are renewed by. */
export interface TokenSourceParts {
  readonly io: Io
  readonly settings: Settings
  readonly store: ProfileStore
  readonly transport: Transport
  readonly profile: string
  readonly tokens: StoredTokens
  readonly target: Target
  readonly onRenewed: (tokens: StoredTokens) => void
}

/** The access token of a profile; what renews it is loaded when that is due. */
export function openTokenSource(parts: TokenSourceParts): TokenSource {
  const { io, settings, store, transport, profile, tokens, target, onRenewed } = parts
  return createTokenSource({
    tokens,
    now: io.now,
    onRenewed,
    renew: async (held, serves) => {
      const [{ renewed }, { webFetch }] = await Promise.all([
        import('./refresh.ts'),
        import('./web-fetch.ts'),
      ])
      return renewed(held, serves, {
        io,
        target,
        store,
        profile,
        fetch: webFetch(transport, timeoutMs),
        insecureHttp: settings.insecureHttp.value,
        debug: settings.debug.value,
      })
    },
  })
}
