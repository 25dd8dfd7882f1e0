import { type Grant, grants } from '../../contract/grants.ts'
import { users } from '../../contract/users.ts'
import { grantRoutes } from '../credentials/grants.ts'
import type { Reply } from '../http/reply.ts'
import { endSession } from '../pages/browser-session.ts'
import { seeOther } from '../pages/page.tsx'
import type { BrowserSession } from '../pages/session-list.ts'
import { invalid, type ProblemError } from '../problem/problem-error.ts'
import { findUser, toUser } from '../users/user-row.ts'
import { userRoutes } from '../users/users.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Facts } from './facts.tsx'
import { Faults, Field, Form } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { pageAsked } from './paging.tsx'
import { ownSessions } from './session-end.tsx'
import { askOwn, callOf, routeOf, type SignedInRequest, writeFor } from './signed-in-request.ts'
import { Day, Minute } from './value-text.tsx'

const section = '/dashboard/account'
const labels = {
  currentPassword: 'Current password',
  password: 'New password',
  repeated: 'Repeat new password',
}

/** Who one is, one's password, and what one has allowed applications to do. */
export const accountPage: DashboardPage = {
  path: section,
  show: (signedIn) => account(signedIn),
  act: changePassword,
  again: account,
}

const grantList: List<Grant> = {
  id: 'grants',
  title: 'Applications with access',
  caption: 'Applications with access, newest first',
  columns: [
    { name: 'Application', cell: ({ clientName }) => clientName },
    { name: 'Scopes', cell: ({ scopes }) => scopes.join(' ') },
    { name: 'Granted', cell: ({ createdAt }) => <Day time={createdAt} /> },
    { name: 'Last used', cell: ({ lastUsedAt }) => <Day time={lastUsedAt} /> },
    { name: 'Expires', cell: ({ expiresAt }) => <Day time={expiresAt} /> },
    {
      name: 'Revoke',
      unseen: true,
      cell: ({ id, clientName }, { base }) => (
        <a class="take" href={`${base}/dashboard/grants/${encodeURIComponent(id)}/revoke`}>
          Revoke<span class="unseen"> access of {clientName}</span>
        </a>
      ),
    },
  ],
}

const sessionList: List<BrowserSession> = {
  id: 'sessions',
  title: 'Browser sessions',
  caption: 'Browsers that are signed in, newest first',
  columns: [
    { name: 'Browser', cell: ({ browser }) => browser },
    { name: 'Network', cell: ({ place }) => place },
    { name: 'Signed in', look: 'broad', cell: ({ createdAt }) => <Minute time={createdAt} /> },
    { name: 'Expires', look: 'broad', cell: ({ expiresAt }) => <Minute time={expiresAt} /> },
    {
      name: 'End',
      unseen: true,
      cell: ({ id, browser, isThis }, { base }) =>
        isThis ? (
          <span class="state active">this browser</span>
        ) : (
          <a class="take" href={`${base}/dashboard/sessions/${encodeURIComponent(id)}/end`}>
            End session<span class="unseen"> of {browser}</span>
          </a>
        ),
    },
  ],
}

/** Changes one's own password as the API does; every session and grant ends with the old one. */
async function changePassword(signedIn: SignedInRequest, form: URLSearchParams): Promise<Reply> {
  const password = form.get('password') ?? ''
  if (password !== (form.get('repeated') ?? '')) {
    throw invalid([{ pointer: '#/repeated', code: 'different', detail: 'must match the new password' }])
  }
  const body = { password, currentPassword: form.get('currentPassword') ?? '' }
  const call = callOf(signedIn, users.updateProfile, { body })
  const { prepare, handle } = routeOf(userRoutes, users.updateProfile)
  const prepared = await prepare?.(call)
  const headers = await writeFor(signedIn, async (inside) => {
    await handle({ ...callOf(inside, users.updateProfile, { body }), prepared })
    return endSession(inside, signedIn.visitor)
  })
  return seeOther(addressOf(signedIn, section, 'password_changed'), headers)
}

async function account(signedIn: SignedInRequest, fault?: ProblemError): Promise<Reply> {
  const { email, username, role, profile, id, createdAt } = toUser(
    await findUser(signedIn.database, signedIn.user.id),
  )
  const name = profile.displayName ?? [profile.firstName, profile.lastName].filter(Boolean).join(' ')
  const granted = await askOwn(signedIn, grantRoutes, grants.list, { query: pageAsked(signedIn) })
  const sessions = await ownSessions(signedIn)
  const facts = [
    ['Name', name || '–'],
    ['E-mail address', email],
    ['Username', username ?? '–'],
    ['Role', role],
    ['Scopes', signedIn.principal.scopes.join(' ')],
    ['ID', <code>{id}</code>],
    ['Created', <Day time={createdAt} />],
  ] as const
  return framed(
    signedIn,
    { title: fault ? 'Error: account' : 'Account', section, fault },
    <>
      <h1>Account</h1>
      <section class="card" aria-labelledby="who">
        <h2 id="who">Profile</h2>
        <Facts facts={facts} />
      </section>
      <ListCard
        signedIn={signedIn}
        list={grantList}
        listed={granted}
        none={<p>No application can act as you.</p>}
      />
      <ListCard
        signedIn={signedIn}
        list={sessionList}
        listed={{ data: sessions }}
        below={
          sessions.length > 1 ? (
            <p class="actions">
              <a class="button" href={`${signedIn.base}/dashboard/other-sessions/end`}>
                End all other sessions
              </a>
            </p>
          ) : null
        }
      />
      <section class="card short" aria-labelledby="change">
        <h2 id="change">Change password</h2>
        <PasswordForm signedIn={signedIn} fault={fault} />
      </section>
    </>,
  )
}

function PasswordForm({ signedIn, fault }: { signedIn: SignedInRequest; fault: ProblemError | undefined }) {
  const field = (name: keyof typeof labels, autocomplete: string, hint?: string) => (
    <Field type="password" label={labels[name]} required {...{ name, autocomplete, hint, fault }} />
  )
  return (
    <Form signedIn={signedIn} label="Change password">
      <Faults fault={fault} labels={labels} />
      {field('currentPassword', 'current-password')}
      {field('password', 'new-password', '12 to 256 characters')}
      {field('repeated', 'new-password')}
      <p class="note">
        You will be signed out everywhere, and applications lose their access. Your API keys stay valid.
      </p>
      <div class="actions">
        <button type="submit">Change password</button>
      </div>
    </Form>
  )
}
