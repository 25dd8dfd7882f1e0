import { commonScopes } from '../../auth/authorization-server.ts'
import { type CodeSignIn, type SignIn, signInByCode, signInTimeoutMinutes } from '../../auth/code-sign-in.ts'
import { type DevicePrompt, signInByDevice } from '../../auth/device-sign-in.ts'
import { SignInError } from '../../auth/errors.ts'
import {
  ApiError,
  ConnectionError,
  NotOfferedError,
  ProtocolError,
  TimeoutError,
} from '../../client/errors.ts'
import { isCredential } from '../../codec/credential-text.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import type { StoredCredential, StoredTokens } from '../../config/profiles.ts'
import { calls } from '../../contract/calls.ts'
import { type Context, openPage } from '../command/context.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type Io, writeStderr } from '../terminal/io.ts'
import { endPreviousSession } from './end-session.ts'
import {
  accountNameOf,
  reportStored,
  type SignInPlace,
  storeCredential,
  useCredential,
} from './sign-in-place.ts'
import type { SignInPlan } from './sign-in-plan.ts'

export interface SignedIn {
  /** Null if the platform does not say. */
  readonly account: string | null
  readonly tokens: StoredTokens
  readonly replaced: StoredCredential | undefined
}

/** Signs in with a browser that redirects to this machine, or whose final URL the user pastes. */
export async function signInWithBrowser(context: Context, plan: SignInPlan): Promise<SignedIn> {
  return signInByCode({
    ...signInOptionsOf(context, plan),
    redirectUri: plan.client.redirectUri,
    ...browserSteps(context, plan.place.url, plan.browser),
  })
}

/** `place` is a name or URL; `browser` opens the page on this machine. */
export function browserSteps(
  context: Context,
  place: string,
  browser: boolean,
): Pick<CodeSignIn, 'show' | 'paste'> {
  const { prompts } = context
  return {
    show: async (address) => {
      const opening = browser && (await openPage(context, address))
      const lead = opening
        ? `Opening a browser to sign in to ${place}\nIf it does not open, visit this URL:`
        : `To sign in to ${place}\nopen this URL in a browser:`
      const wait =
        prompts.refusal === null ? '' : `Waiting for sign-in (up to ${signInTimeoutMinutes} minutes)\n`
      await writeStderr(context.io, `${lead}\n\n${address}\n\n${wait}`)
    },
    paste:
      prompts.refusal === null
        ? async (check, signal) => {
            await prompts.meanwhile(
              'Waiting for sign-in. If the browser cannot return here, paste the final URL:',
              check,
              signal,
            )
          }
        : null,
  }
}

/** Signs in with a code that the user enters on any machine. */
export async function signInWithCode(context: Context, plan: SignInPlan): Promise<SignedIn> {
  const waiting = createWaitingLine(context.io)
  const { keep, ...signIn } = signInOptionsOf(context, plan)
  try {
    return await signInByDevice({
      ...signIn,
      show: (prompt) => showCode(context, plan, prompt),
      onWait: waiting.show,
      isTransient,
      onFault: async (fault, waitMs) => {
        await waiting.clear()
        const message = fault instanceof Error ? fault.message : String(fault)
        await context.output.note(`${message}; trying again in ${Math.ceil(waitMs / 1000)} s`)
      },
      keep: async (tokens) => {
        await waiting.clear()
        return keep(tokens)
      },
    })
  } finally {
    await waiting.clear()
  }
}

async function showCode(
  context: Context,
  { place, browser }: SignInPlan,
  prompt: DevicePrompt,
): Promise<void> {
  const { code, address, completeAddress, minutes } = prompt
  const lines = [
    `To sign in to ${place.url}`,
    'open this URL in any browser:',
    '',
    address,
    '',
    `and enter this code within ${pluralise(minutes, 'minute')}:`,
    '',
    code,
    '',
    '',
  ]
  await writeStderr(context.io, lines.map(escapeHidden).join('\n'))
  if (browser) await openPage(context, completeAddress ?? address)
}

function isTransient(fault: unknown): boolean {
  if (fault instanceof SignInError) return fault.code === 'server_unavailable'
  return fault instanceof ConnectionError || fault instanceof TimeoutError
}

function signInOptionsOf(context: Context, plan: SignInPlan): SignIn<SignedIn> {
  const { io, session } = context
  const { place, client, server, scopes } = plan
  return {
    server,
    client: client.identity,
    origin: new URL(place.url).origin,
    scopes,
    now: io.now,
    fetch: session.fetch,
    signal: io.signal,
    sleep: io.sleep,
    keep: async (tokens) => {
      const account = await accountOf(context, place, tokens)
      io.signal.throwIfAborted()
      return { account, tokens, replaced: await storeCredential(context, place, tokens) }
    },
  }
}

/** Null if the platform does not say. Throws a SignInError if it refuses the tokens. */
async function accountOf(context: Context, place: SignInPlace, tokens: StoredTokens): Promise<string | null> {
  useCredential(context, place, { kind: 'access_token', value: tokens.accessToken })
  const caller = await context.session.caller()
  try {
    const { data } = await caller.call(calls.users.profile, { signal: context.io.signal })
    return accountNameOf(data)
  } catch (error) {
    if (error instanceof NotOfferedError) return null
    if (error instanceof ApiError && error.status === 401) throw refusedToken(place, error)
    const known = [ApiError, ConnectionError, TimeoutError, ProtocolError]
    if (!(error instanceof Error) || !known.some((kind) => error instanceof kind)) throw error
    await context.output.note(`Cannot determine the account: ${error.message}`)
    return null
  }
}

function refusedToken({ url }: SignInPlace, cause: ApiError): SignInError {
  return new SignInError('token_refused', `${url} rejected the access token that it just issued`, {
    why: [`It says: ${cause.message}`],
    cause,
  })
}

interface WaitingLine {
  readonly show: (leftMs: number) => Promise<void>
  readonly clear: () => Promise<void>
}

const startOfEmptyLine = '\r\u001b[K'

function createWaitingLine(io: Io): WaitingLine {
  let shown = false
  if (!io.stderr.isTTY) {
    return {
      show: async () => {
        if (!shown) await writeStderr(io, 'Waiting for sign-in\n')
        shown = true
      },
      clear: async () => {},
    }
  }
  return {
    show: async (leftMs) => {
      shown = true
      await writeStderr(io, `${startOfEmptyLine}Waiting for sign-in (${minutesAndSeconds(leftMs)} left)`)
    },
    clear: async () => {
      if (shown) await writeStderr(io, startOfEmptyLine)
      shown = false
    },
  }
}

function minutesAndSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export async function reportSignedIn(
  context: Context,
  { place, client }: SignInPlan,
  { account, tokens, replaced }: SignedIn,
): Promise<void> {
  const { output } = context
  await reportStored(context, place, account)
  // Only scopes that were requested can be missing.
  const missing = (client.scopes ?? commonScopes).filter((scope) => !tokens.scopes.includes(scope))
  if (missing.length > 0) {
    await output.note(
      `Granted scopes: ${tokens.scopes.join(' ') || 'none'}; not granted: ${missing.join(' ')}`,
    )
  }
  if (tokens.expiresAt === null) await output.note('The platform does not say when the access token expires')
  else if (tokens.refreshToken === null) {
    await output.note(`The access token cannot be refreshed; it expires at ${tokens.expiresAt}`)
  }
  await endReplaced(context, tokens, replaced)
}

/**
 * Revokes the replaced tokens if that cannot affect the new ones: an academy creates a grant for each
 * sign-in; elsewhere several may share one session, which would end.
 */
async function endReplaced(
  context: Context,
  { issuer }: StoredTokens,
  replaced: StoredCredential | undefined,
): Promise<void> {
  if (replaced?.kind !== 'oauth') return
  const { refreshToken } = replaced
  const own = refreshToken !== null && isCredential('refreshToken', refreshToken)
  if (replaced.issuer === issuer && !own) return
  await endPreviousSession(context, replaced)
}
