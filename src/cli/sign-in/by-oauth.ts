import type { AuthorizationServer } from '../../auth/authorization-server.ts'
import { type SignIn, signInByCode, signInTimeoutMinutes } from '../../auth/code-sign-in.ts'
import { type DevicePrompt, signInByDevice } from '../../auth/device-sign-in.ts'
import { SignInError } from '../../auth/errors.ts'
import {
  ApiError,
  ConnectionError,
  NotOfferedError,
  ProtocolError,
  TimeoutError,
} from '../../client/errors.ts'
import { visible } from '../../codec/visible.ts'
import type { StoredCredential, StoredTokens } from '../../config/profiles.ts'
import { calls } from '../../contract/calls.ts'
import { openPage } from '../command/browser.ts'
import type { Context } from '../command/context.ts'
import { counted } from '../terminal/counted.ts'
import { say } from '../terminal/io.ts'
import type { OAuthClient } from './client.ts'
import { personIn, type SignInPlace, storeCredential, useCredential } from './place.ts'
import { createWaitingLine } from './waiting-line.ts'

/** What a sign-in has led to. */
export interface SignedIn {
  /** Null where the platform does not say. */
  readonly account: string | null
  readonly tokens: StoredTokens
  /** What the profile held before. */
  readonly replaced: StoredCredential | undefined
}

/** Where, as what, and by which server to sign in. */
export interface SignInPlan {
  readonly place: SignInPlace
  readonly client: OAuthClient
  readonly server: AuthorizationServer
  readonly scopes: readonly string[]
  /** True where pages are to be shown in a browser of this machine. */
  readonly browser: boolean
}

/** Signs in with a browser that comes back to this machine, or whose last address is pasted. */
export async function signInWithBrowser(context: Context, plan: SignInPlan): Promise<SignedIn> {
  const { prompts } = context
  const { url } = plan.place
  return signInByCode({
    ...signInOf(context, plan),
    redirectUri: plan.client.redirectUri,
    show: async (address) => {
      const opening = plan.browser && (await openPage(context, address))
      const lead = opening
        ? `Opening a browser to sign in to ${url}\nIf it does not open, visit this URL:`
        : `To sign in to ${url}\nopen this URL in a browser:`
      const wait =
        prompts.refusal === null ? '' : `Waiting for sign-in (up to ${signInTimeoutMinutes} minutes)\n`
      await say(context.io, `${lead}\n\n${address}\n\n${wait}`)
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
  })
}

/** Signs in with a code that is typed in on any machine. */
export async function signInWithCode(context: Context, plan: SignInPlan): Promise<SignedIn> {
  const waiting = createWaitingLine(context.io)
  const { keep, ...signIn } = signInOf(context, plan)
  try {
    return await signInByDevice({
      ...signIn,
      show: (prompt) => showCode(context, plan, prompt),
      onWait: waiting.show,
      isPassing,
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
    `and enter this code within ${counted(minutes, 'minute')}:`,
    '',
    code,
    '',
    '',
  ]
  await say(context.io, lines.map(visible).join('\n'))
  if (browser) await openPage(context, completeAddress ?? address)
}

function isPassing(fault: unknown): boolean {
  if (fault instanceof SignInError) return fault.code === 'server_unavailable'
  return fault instanceof ConnectionError || fault instanceof TimeoutError
}

function signInOf(context: Context, plan: SignInPlan): SignIn<SignedIn> {
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

/** Whom the tokens stand for; null where the platform does not say. Throws a SignInError where it refuses them. */
async function accountOf(context: Context, place: SignInPlace, tokens: StoredTokens): Promise<string | null> {
  useCredential(context, place, { kind: 'access_token', value: tokens.accessToken })
  const caller = await context.session.caller()
  try {
    const { data } = await caller.call(calls.users.profile, { signal: context.io.signal })
    return personIn(data)
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
