import type { Fetch } from '../../auth/oauth-exchange.ts'
import type { TokenSource } from '../../auth/token-source.ts'
import type { Caller, CallerOptions } from '../../client/caller.ts'
import type { ClosableTransport } from '../../client/undici.ts'
import { databaseSecrets, urlPasswords } from '../../codec/database-url.ts'
import type { ProfileStore, StoredTokens } from '../../config/profiles.ts'
import type { Settings } from '../../config/resolve-settings.ts'
import type { Credential, LocalTarget, RemoteTarget, Target } from '../../config/target.ts'
import { commandHeader } from '../../contract/constants.ts'
import type { HttpRequest, Transport } from '../../contract/http.ts'
import type { OpenAcademy } from '../../server/academy/local-academy.ts'
import type { UpgradeWatch } from '../../server/academy/upgrade-in-process.ts'
import type { RunningServer, ServeOptions } from '../../server/socket/serve.ts'
import { AuthRequiredError, CommandError } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'
import { databaseErrorOf, databaseMissing, missingDatabaseError } from './academy-file.ts'
import type { BulkChange, OpenChange } from './bulk-change.ts'
import type { CallerParts } from './open-caller.ts'
import type { KeptPlatform } from './platform-file.ts'

/** Used for a target without a profile. */
const platformVariable = 'LEARNCTL_PLATFORM'

interface LocalOptions {
  readonly path: string
  readonly now: () => Date
  readonly watch: UpgradeWatch
  readonly env: Io['env']
  readonly mustExist: boolean
}

/** Opens local academies, the network and servers; each loads its code when it is used. */
export interface Transports {
  local(options: LocalOptions): Promise<OpenAcademy>
  remote(io: Io): Promise<ClosableTransport>
  serve(options: ServeOptions): Promise<RunningServer>
}

/** An academy in this process, the network, and a socket on this machine. */
export const transports: Transports = {
  local: async (options) => (await import('../../server/academy/local-academy.ts')).openAcademy(options),
  remote: async ({ env }) => (await import('../../client/network.ts')).createNetworkTransport({ env }),
  serve: async (options) => (await import('../../server/socket/serve.ts')).serve(options),
}

/** Opens the target and looks for a credential only when needed. */
export interface Session {
  /** Throws AuthRequiredError if no platform or academy is chosen. */
  target(): Target
  /** `anonymous` calls need no credential; `onWait` is called before each retry. A session has one `change`. */
  caller(options?: {
    readonly anonymous?: boolean
    readonly onWait?: CallerOptions['onWait']
    readonly change?: BulkChange | undefined
  }): Promise<Caller>
  /** Returns the platform file of the target: from LEARNCTL_PLATFORM, else from the profile; null without one. */
  platform(): Promise<KeptPlatform | null>
  /** Null without a change of many records. */
  change(): OpenChange | null
  /** Throws AuthRequiredError without a token or API key, and a CommandError for a local academy, which has none. */
  bearer(): Promise<string>
  /** Credentials that this run has or may have sent; none of them may be shown. */
  secrets(): readonly string[]
  use(target: Target): void
  /** Notes that it was created unless `silent`. Throws a CommandError for a remote target, and without an academy. */
  open(options?: { readonly silent?: boolean }): Promise<OpenAcademy>
  /** Returns the cause of an internal error of a request in this process. */
  causeOf(requestId: string): Promise<unknown>
  /** Writes that were sent before an interruption and got no response. */
  unanswered(): readonly HttpRequest[]
  /** Sends a request to an authorization server over the network. */
  readonly fetch: Fetch
  /** Sends once, without a credential. */
  readonly network: Transport
  close(): Promise<void>
}

type OnMissing = 'create' | 'empty' | 'refuse'

interface SessionParts {
  readonly io: Io
  readonly settings: Settings
  readonly profiles: ProfileStore
  /** Finds the target when it is first needed. */
  readonly choose: () => Target | null
  readonly transports: Transports
  /** How a missing file of the local academy is treated (default `refuse`). */
  readonly onMissing?: OnMissing
  /** Words of the command, which its writes name. */
  readonly command?: string
}

export function createSession(parts: SessionParts): Session {
  return new TargetSession(parts)
}

/** Members are bound, so that parts of it can be passed on. */
class TargetSession implements Session {
  readonly #parts: SessionParts
  #chosen: Target | null = null
  #academy: Promise<OpenAcademy> | null = null
  #remote: Promise<ClosableTransport> | null = null
  #tokens: Promise<TokenSource> | null = null
  /** Tokens that a refresh has replaced. */
  readonly #replaced: string[] = []
  readonly #unanswered = new Set<HttpRequest>()
  #change: OpenChange | null = null
  /** Named by the environment. */
  #platform: Promise<KeptPlatform> | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  readonly target = (): Target => {
    this.#chosen ??= this.#parts.choose()
    if (this.#chosen) return this.#chosen
    throw new AuthRequiredError('No platform or academy is selected', {
      why: ['No profile is active, and neither --url nor LEARNCTL_URL is set'],
      hint: 'Sign in with `learnctl auth login --url <url>`, or create a local academy with `learnctl quickstart`',
    })
  }

  readonly caller: Session['caller'] = async ({ anonymous = false, onWait, change } = {}) => {
    const current = this.target()
    if (change && !this.#change) {
      const { OpenChange } = await import('./bulk-change.ts')
      this.#change = new OpenChange(change, () => this.caller())
    }
    const ofChange = (transport: Transport) =>
      (change && this.#change?.requestsBy(transport)) ?? this.#naming(transport)
    if (current.kind === 'local') {
      // Opened by the first request, so that a dry run leaves no trace. No retries: this process is the server.
      const transport: Transport = async (request) => (await this.open()).transport(request)
      return this.#openCaller({
        baseUrl: 'http://localhost',
        transport: ofChange(this.#watch(transport)),
        attempts: 1,
        ours: true,
      })
    }
    const credential = anonymous ? null : (current.credential ?? (await this.#requireCredential(current)))
    return this.#openCaller({
      baseUrl: current.url,
      transport: ofChange(this.#watch(this.network)),
      platform: (await this.platform())?.file ?? null,
      ...(credential && this.#authorizing(credential)),
      ...(onWait && { onWait }),
    })
  }

  /** Names the command in each write, so that it can be undone. */
  #naming(transport: Transport): Transport {
    const { command } = this.#parts
    if (!command) return transport
    return (request) => {
      if (request.method === 'GET') return transport(request)
      return transport({ ...request, headers: { ...request.headers, [commandHeader]: command } })
    }
  }

  readonly change = (): OpenChange | null => this.#change

  readonly platform = async (): Promise<KeptPlatform | null> => {
    const current = this.target()
    const { cwd, env } = this.#parts.io
    if (current.kind === 'local') return null
    // Validated when it was added.
    if (!env[platformVariable]) return current.platform as KeptPlatform | null
    this.#platform ??= import('./platform-file.ts').then(({ readPlatformFile }) =>
      readPlatformFile(cwd, env[platformVariable] ?? ''),
    )
    return this.#platform
  }

  readonly bearer = async (): Promise<string> => {
    const current = this.target()
    if (current.kind === 'local') {
      const message = `The local academy in ${current.database} has no credential`
      throw new CommandError('no_bearer', 'usage', message, {
        hint: 'Serve it with `learnctl server start`, and create a key with `learnctl keys create --name <name>`',
      })
    }
    const credential = current.credential ?? (await this.#requireCredential(current))
    return (await this.#tokensOf(credential))?.current() ?? credential.value
  }

  readonly secrets = (): readonly string[] => {
    const { io, settings } = this.#parts
    const credential = this.#chosen?.kind === 'remote' ? this.#chosen.credential : null
    const tokens = credential?.kept?.tokens
    const given = [credential?.value, tokens?.refreshToken, tokens?.clientSecret, ...this.#replaced]
    const inUrl = databaseSecrets(settings.database.value)
    return [...given.filter((secret) => typeof secret === 'string'), ...inUrl, ...secretsIn(io.env)]
  }

  readonly use = (target: Target): void => {
    this.#chosen = target
    this.#tokens = null
  }

  readonly open = async ({ silent = false } = {}): Promise<OpenAcademy> => {
    const local = this.target()
    if (local.kind === 'remote') {
      throw new CommandError('not_local', 'usage', `${local.url} is not an academy on this machine`)
    }
    this.#academy ??= this.#openLocal(local, silent)
    return this.#academy
  }

  readonly causeOf = async (requestId: string) => (await this.#academy)?.causeOf(requestId)

  readonly unanswered = (): readonly HttpRequest[] => [...this.#unanswered]

  readonly fetch: Fetch = async (url, request) => {
    const { io, settings } = this.#parts
    const { logExchanges, createWebFetch } = await import('./session-tokens.ts')
    const plain = createWebFetch(this.network, settings.timeout.value)
    return (settings.debug.value ? logExchanges(plain, io) : plain)(url, request)
  }

  readonly network: Transport = async (request) => {
    this.#remote ??= this.#parts.transports.remote(this.#parts.io)
    return (await this.#remote)(request)
  }

  readonly close = async (): Promise<void> => {
    // A refresh in progress must end, so that its tokens are stored.
    await (await this.#tokens)?.settled()
    const [local, remote] = await Promise.allSettled([this.#academy, this.#remote])
    if (local.status === 'fulfilled') await local.value?.close()
    if (remote.status === 'fulfilled') await remote.value?.close()
  }

  async #openLocal({ database, origin }: LocalTarget, silent: boolean): Promise<OpenAcademy> {
    const { io, profiles, transports, onMissing } = this.#parts
    const mayCreate = onMissing === 'create'
    const { upgradeNotes } = await import('./academy-file.ts')
    if (mayCreate) (await import('../../config/files.ts')).makeDatabaseDirectory(io, database)
    const now = () => new Date(io.now())
    const open = (path: string, mustExist = false) =>
      transports.local({ path, now, watch: upgradeNotes(io, path), env: io.env, mustExist })
    try {
      const academy = await open(database, !mayCreate)
      if (academy.created && !silent) await note(io, `Created an academy in ${database}`)
      return academy
    } catch (error) {
      const fault = databaseErrorOf(error)
      if (!(fault instanceof CommandError) || fault.code !== databaseMissing) throw fault
      if (onMissing === 'empty')
        return (await import('./academy-file.ts')).openEmptyAcademy(io, database, open)
      throw await missingDatabaseError({ profiles }, database, origin)
    }
  }

  async #openCaller(options: CallerParts): Promise<Caller> {
    const { io, settings } = this.#parts
    return (await import('./open-caller.ts')).openCaller(io, settings, () => this.secrets(), options)
  }

  /** Keeps the writes without a response after an interruption. */
  #watch(transport: Transport): Transport {
    return async (request) => {
      if (request.method === 'GET') return transport(request)
      this.#unanswered.add(request)
      try {
        const response = await transport(request)
        this.#unanswered.delete(request)
        return response
      } catch (error) {
        if (!this.#parts.io.signal.aborted) this.#unanswered.delete(request)
        throw error
      }
    }
  }

  async #requireCredential(target: RemoteTarget): Promise<never> {
    const { missingCredentialError } = await import('./sign-in-command.ts')
    throw missingCredentialError(target, this.#parts.profiles.read())
  }

  /** Returns how to authorize requests with this credential; a refused token is refreshed once. */
  #authorizing(
    credential: Credential,
  ): Pick<CallerParts, 'credential' | 'authorization' | 'reauthorization'> {
    const { kind, value } = credential
    if (!credential.kept?.tokens) return { credential: kind, authorization: async () => `Bearer ${value}` }
    return {
      credential: kind,
      authorization: async () => `Bearer ${await (await this.#tokensOf(credential))?.current()}`,
      reauthorization: async (refused) => {
        const token = await (await this.#tokensOf(credential))?.after(refused.replace(/^Bearer /, ''))
        return token ? `Bearer ${token}` : null
      },
    }
  }

  /** Null for a credential that is sent as it is. */
  #tokensOf({ kept }: Credential): Promise<TokenSource> | null {
    if (!kept?.tokens) return null
    this.#tokens ??= this.#openTokens(kept.profile, kept.tokens)
    return this.#tokens
  }

  async #openTokens(profile: string, tokens: StoredTokens): Promise<TokenSource> {
    const { io, settings, profiles } = this.#parts
    const { sessionTokens } = await import('./session-tokens.ts')
    return sessionTokens({
      io,
      settings,
      store: profiles,
      transport: this.network,
      profile,
      tokens,
      target: this.target(),
      onRefreshed: (tokens) => {
        const chosen = this.#chosen
        if (chosen?.kind !== 'remote' || !chosen.credential) return
        this.#replaced.push(chosen.credential.value)
        const credential = { ...chosen.credential, value: tokens.accessToken, kept: { profile, tokens } }
        this.#chosen = { ...chosen, credential }
      },
    })
  }
}

export function secretsIn(env: Io['env']): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (/^LEARNCTL_(API_KEY|ACCESS_TOKEN|CLIENT_SECRET|WEBHOOK_SECRET)$/.test(name)) return [value]
    if (/^(https?|all)_proxy$/i.test(name)) return urlPasswords(value.trim())
    return name === 'LEARNCTL_DATABASE' ? databaseSecrets(value) : []
  })
}
