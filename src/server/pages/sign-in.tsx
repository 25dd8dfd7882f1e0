import sql from 'sql-template-tag'
import { isStorableText } from '../../codec/unicode-text.ts'
import type { RoleName } from '../../contract/operation.ts'
import { maxPasswordLength } from '../access/password-hash.ts'
import { digest } from '../access/secret.ts'
import { instructorAccess } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { recordRefusal } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { isClientGone } from '../http/request-context.ts'
import { type Visit, withTransaction } from '../http/web-route.ts'
import { ProblemError, tooMany } from '../problem-error.ts'
import { beginSession, principalOf, type Visitor } from './browser-session.ts'
import { hereOf, page, seeOther } from './page.tsx'

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

export interface SignInReason {
  readonly why?: string
  readonly formTarget?: string
  /** Default: the address of the form. */
  readonly next?: string
}

interface SignInOptions extends SignInReason {
  readonly fault?: ProblemError
  readonly account?: string
}

/** Attempts are counted by account and network before the password is checked (OWASP, Authentication). */
export async function signIn(
  visit: Visit,
  visitor: Visitor,
  form: URLSearchParams,
  reason: SignInReason = {},
): Promise<Reply> {
  const account = (form.get('account') ?? '').slice(0, longestAccount + 1).trim()
  try {
    const found = await accountBy(visit, account, form.get('password') ?? '')
    const headers = await visit.academy.database.write(async (transaction) => {
      await requireUnchanged(transaction, found)
      return beginSession(withTransaction(visit, transaction), found)
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
  readonly instructorAccess: string
  readonly password_hash: string | null
}

/** Maximum length of an account name: an email address (RFC 5321 §4.5.3.1) or a username, which is shorter. */
const longestAccount = 254

async function accountBy(
  { academy, database, limits, request }: Visit,
  account: string,
  password: string,
): Promise<Account> {
  // Checked first: lower-casing, hashing and looking up a long text is expensive, and anyone can send one.
  if (account.length > longestAccount || password.length > maxPasswordLength) throw wrong()
  if (!isStorableText(account)) throw wrong()
  const key = account.toLowerCase()
  const user = await database.one<Account>(sql`
    select id, role, password_hash, ${instructorAccess} as "instructorAccess" from users
    where (email_key = ${key} or username = ${account}) and status = 'active'
    order by email_key = ${key} desc limit 1`)
  // An account has one count for all of its names; a typed name has its own, so that unknown names cannot be told from
  // known ones. Both are taken up front, so concurrent attempts count, too. By network: otherwise an attacker could lock
  // a user out.
  const attempts = [digest(key), ...(user ? [user.id] : [])].map((name) => `${name} ${request.address}`)
  const waitSeconds = await limits.signIns.begin(attempts)
  if (waitSeconds > 0) throw tooMany('attempts to sign in', waitSeconds)
  const right = await limits.passwords.verify(
    { name: request.address, isClientGone: () => isClientGone(request) },
    password,
    // An unknown account takes as long to refuse as a known one.
    user?.password_hash ?? null,
  )
  if (!user?.password_hash || !right) {
    // The typed name is not recorded: it may be a password.
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

/** Throws if the password changed during its check, which takes a tenth of a second. */
async function requireUnchanged(database: Database, { id, password_hash: hash }: Account): Promise<void> {
  const same = await database.one(
    sql`select 1 from users where id = ${id} and password_hash = ${hash} and status = 'active'`,
  )
  if (!same) throw wrong()
}

function wrong(): ProblemError {
  return new ProblemError('forbidden', 'Incorrect e-mail address, username or password.')
}
