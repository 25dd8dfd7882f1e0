import { hash, scryptSync } from 'node:crypto'
import sql from 'sql-template-tag'
import type { AppInput, NewApp } from '../../../src/contract/apps.ts'
import { localPrincipal } from '../../../src/server/access/identify.ts'
import { nowhere } from '../../../src/server/access/principal.ts'
import { registerApp } from '../../../src/server/credentials/apps.ts'
import { idMaker } from '../../../src/server/database/id.ts'
import { type Answer, test as base, type Person, type TestAcademy } from '../../helpers/academy.ts'
import { type PlainBrowser, plainBrowser, type Shown } from '../../helpers/browser.ts'

/** Origin of the tests' academy. */
export const issuer = 'http://localhost'
/** Redirect URI of the tests' client. */
export const callback = 'http://127.0.0.1:50123/callback'
/** Password of all users. */
export const password = 'correct horse battery'
/** RFC 7636 Appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** Changes to a plain request; undefined removes a parameter. */
export type Changes = Readonly<Record<string, string | undefined>>

/** A client, and the user at its browser. */
export interface Flow {
  readonly browser: PlainBrowser
  /** Opens the authorization URL. */
  authorize(changes?: Changes): Promise<Shown>
  /** Signs in and returns the next page, usually the consent page. */
  consent(person: Person, changes?: Changes): Promise<Shown>
  /** Consents; returns the code. */
  code(person: Person, changes?: Changes): Promise<string>
  /** Sends a form to an endpoint for clients. */
  send(path: string, fields: Changes, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Exchanges a code as the plain client. */
  exchange(code: string, changes?: Changes): Promise<Answer>
  /** Uses a refresh token as the plain client. */
  refresh(token: string, changes?: Changes): Promise<Answer>
  /**
   * Consents and exchanges; returns the body of the token response. A client secret is sent only with the
   * code.
   */
  tokens(person: Person, changes?: Changes): Promise<Tokens>
}

/** A token response (RFC 6749 §5.1). */
export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly scope: string
}

/** Sets a user's password, by default the common one, hashed at a low cost. */
export async function givePassword(
  { database }: Pick<TestAcademy, 'database'>,
  userId: string,
  given = password,
): Promise<void> {
  const salt = Buffer.from('salt')
  const derived = scryptSync(given, salt, 32, { N: 2, r: 1, p: 1 })
  const stored = ['scrypt', 2, 1, 1, salt.toString('base64url'), derived.toString('base64url')].join('$')
  await database.run(sql`update users set password_hash = ${stored} where id = ${userId}`)
}

/** Registers an application, by default a confidential one with the redirect URI `callback`. */
export async function register(
  { database, clock }: TestAcademy,
  input: Partial<AppInput> = {},
): Promise<NewApp> {
  const app = { name: 'Gradebook', redirectUris: [callback], public: false, machineScopes: [], ...input }
  const call = {
    now: clock.now().toISOString(),
    newId: idMaker(clock.now),
    principal: await localPrincipal(database),
    origin: nowhere,
  }
  return database.write((transaction) => registerApp({ ...call, database: transaction }, app))
}

/** Returns the path of an authorization request by the client `learnctl`. */
export function authorizePath(changes: Changes = {}): string {
  return `/oauth/authorize?${formOf({
    response_type: 'code',
    client_id: 'learnctl',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'state of the client',
    scope: 'read write',
    ...changes,
  })}`
}

/** Returns the challenge of a verifier (RFC 7636 §4.2). */
export function challengeFor(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Returns the query of a redirect. */
export function redirectQueryOf({ leadsTo }: Pick<Shown, 'leadsTo'>): Record<string, string> {
  return Object.fromEntries(new URL(leadsTo ?? 'none:').searchParams)
}

/** Creates a client of an academy, with its own browser. */
export function openFlow(academy: TestAcademy): Flow {
  const browser = plainBrowser(academy.fetch, issuer)
  const authorize: Flow['authorize'] = (changes) => browser.open(authorizePath(changes))

  let signedIn: string | undefined
  const consent: Flow['consent'] = async (person, changes) => {
    if (signedIn !== undefined && signedIn !== person.id) browser.forget()
    signedIn = person.id
    await givePassword(academy, person.id)
    const page = await authorize(changes)
    return page.forms.some(({ fields }) => 'password' in fields)
      ? browser.signIn(page, person.email, password)
      : page
  }

  const code: Flow['code'] = async (person, changes) => {
    const answered = await browser.submit(await consent(person, changes), {}, 'Allow')
    return redirectQueryOf(answered)['code'] ?? ''
  }

  const send: Flow['send'] = (path, fields, headers = {}) =>
    academy.bearer(undefined).send('POST', path, `${formOf(fields)}`, {
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    })

  const exchange: Flow['exchange'] = (given, changes) =>
    send('/oauth/token', {
      grant_type: 'authorization_code',
      code: given,
      redirect_uri: callback,
      client_id: 'learnctl',
      code_verifier: verifier,
      ...changes,
    })

  return {
    browser,
    authorize,
    consent,
    code,
    send,
    exchange,
    refresh: (token, changes) =>
      send('/oauth/token', {
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: 'learnctl',
        ...changes,
      }),
    async tokens(person, { client_secret, ...changes } = {}) {
      const { client_id = 'learnctl' } = changes
      const answer = await exchange(await code(person, changes), { client_id, client_secret })
      // The type is that of the standard; the tests of the token endpoint check each member.
      return answer.body as Tokens
    },
  }
}

/** A vitest test with a client of the academy. */
export const test = base.extend('flow', ({ academy }) => openFlow(academy))

function formOf(fields: Changes): URLSearchParams {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(given)
}
