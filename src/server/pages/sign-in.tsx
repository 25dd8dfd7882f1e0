import sql from 'sql-template-tag'
import type { Row } from '../database/database.ts'
import type { Visit } from '../endpoint.ts'
import { tooMany } from '../exchange.ts'
import { nobodysPassword, verifyPassword } from '../password.ts'
import { ProblemError } from '../problem-error.ts'
import type { Reply } from '../reply.ts'
import { digest } from '../secret.ts'
import { beginSession, type Visitor } from './browser-session.ts'
import { page, seeOther } from './page.tsx'

/** The page that asks who somebody is; its form comes back to the same address. */
export function signInPage(visitor: Visitor, { why, fault, account = '' }: SignInOptions): Reply {
  return page(
    {
      title: 'Sign in',
      narrow: true,
      headers: visitor.headers,
      ...(fault && { status: fault.status, code: fault.code }),
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

/** What a sign-in page says besides its two questions. */
export interface SignInOptions {
  /** What it is for. */
  readonly why?: string
  readonly fault?: ProblemError
  readonly account?: string
}

/**
 * Takes the form of the sign-in page: leads on to the same address, signed in, or asks again.
 * Attempts are counted by account and by address before a password is looked at (OWASP, Authentication).
 */
export async function signIn(
  visit: Visit,
  visitor: Visitor,
  form: URLSearchParams,
  why?: string,
): Promise<Reply> {
  const account = (form.get('account') ?? '').trim()
  try {
    const userId = await userBy(visit, account, form.get('password') ?? '')
    const { path, search } = visit.request
    const headers = await visit.academy.database.write(() => beginSession(visit, userId))
    return seeOther(visit.base + path + (search === '' ? '' : `?${search}`), headers)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const again = signInPage(visitor, { ...(why !== undefined && { why }), fault: error, account })
    return { ...again, headers: { ...again.headers, ...error.headers } }
  }
}

interface Account extends Row {
  readonly id: string
  readonly password_hash: string | null
}

async function userBy(
  { academy, gates, request }: Visit,
  account: string,
  password: string,
): Promise<string> {
  const attempts = gates.signIns.take(digest(account.toLowerCase()))
  const failures = gates.failures.peek(request.address)
  const full = [attempts, failures].find(({ allowed }) => !allowed)
  if (full) throw tooMany('attempts to sign in', full.resetSeconds)
  const user = academy.database.one<Account>(sql`
    select id, password_hash from users
    where (email_key = ${account.toLowerCase()} or username = ${account}) and status = 'active' limit 1`)
  // An account that is not there takes as long to refuse as one that is.
  const right = await verifyPassword(password, user?.password_hash ?? nobodysPassword)
  if (user?.password_hash && right) return user.id
  gates.failures.take(request.address)
  throw new ProblemError('forbidden', 'The account or the password is wrong.')
}
