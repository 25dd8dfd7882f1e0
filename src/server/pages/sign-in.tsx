import sql from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { RoleName } from '../../contract/operation.ts'
import { maxPasswordLength } from '../access/password-hash.ts'
import { digest } from '../access/secret.ts'
import type { Database, Row } from '../database/database.ts'
import { type EndpointRequest, within } from '../http/endpoint.ts'
import { recordRefusal } from '../http/refusal.ts'
import type { Reply } from '../http/reply.ts'
import { hasLeft } from '../http/request-context.ts'
import { ProblemError, tooMany } from '../problem/problem-error.ts'
import { beginSession, principalOf, type Visitor } from './browser-session.ts'
import { hereOf, page, seeOther } from './page.tsx'

/** The page that asks who somebody is; its form comes back to the same address. */
export function signInPage(visitor: Visitor, options: SignInOptions): Reply {
  const { why, formTarget, fault, account = '' } = options
  return page(
    {
      title: fault ? 'Error: sign in' : 'Sign in',
      narrow: true,
      headers: visitor.headers,
      formTarget,
      fault,
    },
    <form method="post" class="card">
      <h1>Sign in</h1>
      {why ? <p>{why}</p> : null}
      {fault ? (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      ) : null}
      <input type="hidden" name="csrf" value={visitor.csrf} />
      <input type="hidden" name="action" value="sign_in" />
      <label for="account">E-mail address or username</label>
      <input
        id="account"
        name="account"
        value={account}
        autocomplete="username"
        autocapitalize="none"
        required
      />
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required />
      <div class="actions">
        <button type="submit">Sign in</button>
      </div>
    </form>,
  )
}

/** What signing in is for. */
export interface SignInReason {
  /** In words, for the person who is asked to. */
  readonly why?: string
  /** Where the redirects that follow may lead to besides this site, as a CSP source. */
  readonly formTarget?: string
  /** The link that somebody is led to who has signed in; the address of the form where there is none. */
  readonly next?: string
}

/** What a sign-in page says besides its two questions. */
export interface SignInOptions extends SignInReason {
  readonly fault?: ProblemError
  readonly account?: string
}

/**
 * Takes the form of the sign-in page: leads on, signed in, or asks again.
 * Attempts are counted by account and network before a password is looked at (OWASP, Authentication).
 */
export async function signIn(
  visit: EndpointRequest,
  visitor: Visitor,
  form: URLSearchParams,
  reason: SignInReason = {},
): Promise<Reply> {
  const account = (form.get('account') ?? '').slice(0, longestAccount + 1).trim()
  try {
    const found = await accountBy(visit, account, form.get('password') ?? '')
    const headers = await visit.academy.database.write(async (transaction) => {
      await requireUnchanged(transaction, found)
      return beginSession(within(visit, transaction), found)
    })
    return { ...seeOther(reason.next ?? hereOf(visit), headers), principal: principalOf(found) }
  } catch (error) {
    if (error instanceof ProblemError) return signInPage(visitor, { ...reason, fault: error, account })
    throw error
  }
}

interface Account extends Row {
  readonly id: string
  readonly role: RoleName
  readonly password_hash: string | null
}

/** An account is named by an e-mail address (RFC 5321 §4.5.3.1) or a username, which is shorter. */
const longestAccount = 254

async function accountBy(
  { academy, database, limits, request }: EndpointRequest,
  account: string,
  password: string,
): Promise<Account> {
  // Before anything is done with them: anybody can send a text that takes long to lower, to hash or to look up.
  if (account.length > longestAccount || password.length > maxPasswordLength) throw wrong()
  if (!isStorableText(account)) throw wrong()
  const key = account.toLowerCase()
  const user = await database.one<Account>(sql`
    select id, role, password_hash from users
    where (email_key = ${key} or username = ${account}) and status = 'active'
    order by email_key = ${key} desc limit 1`)
  // One account has one count, however it is named; a name has one as well, so that those that are nobody's are not
  // told apart by theirs. Both are taken first: attempts that come at once count, too. What fails at one network
  // delays nobody at another: else anybody could keep somebody out (OWASP, Authentication).
  const attempts = [digest(key), ...(user ? [user.id] : [])].map((name) => `${name} ${request.address}`)
  const waitSeconds = await limits.signIns.begin(attempts)
  if (waitSeconds > 0) throw tooMany('attempts to sign in', waitSeconds)
  const right = await limits.passwords.verify(
    { group: request.address, member: digest(key), hasLeft: () => hasLeft(request) },
    password,
    // An account that is not there takes as long to refuse as one that is.
    user?.password_hash ?? null,
  )
  if (!user?.password_hash || !right) {
    // What was typed is not told: it may be a password.
    const details = { code: 'wrong_password' }
    const refused = {
      action: 'session.refused',
      subjectId: user?.id ?? null,
      details,
    } as const
    await recordRefusal(academy, limits, request, refused)
    throw wrong()
  }
  await limits.signIns.forgive(attempts)
  return user
}

/** Checking a password takes a tenth of a second, in which it may have become the old one. */
async function requireUnchanged(database: Database, { id, password_hash: hash }: Account): Promise<void> {
  const same = await database.one(
    sql`select 1 from users where id = ${id} and password_hash = ${hash} and status = 'active'`,
  )
  if (!same) throw wrong()
}

function wrong(): ProblemError {
  return new ProblemError('forbidden', 'Incorrect e-mail address, username or password.')
}
