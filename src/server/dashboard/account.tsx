import { type Grant, grants } from '../../contract/grants.ts'
import { users } from '../../contract/users.ts'
import { grantsOf, revokeGrant } from '../credentials/grants.ts'
import type { Reply } from '../http/reply.ts'
import {
  type BrowserSession,
  endOneSession,
  endOtherSessions,
  endSession,
  sessionsOf,
} from '../pages/browser-session.ts'
import { seeOther } from '../pages/page.tsx'
import { invalid, notFound, type ProblemError } from '../problem-error.ts'
import { findUser, toUser } from '../users/user-row.ts'
import { askOwn, callOf, routeOf, type SignedInRequest, writeFor, writingOf } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { askToConfirm, Faults, Field, Form } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { type List, ListCard } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { countOf, Day, Facts, Minute } from './values.tsx'

const section = '/dashboard/account'
const labels = {
  currentPassword: 'Current password',
  password: 'New password',
  repeated: 'Repeat new password',
}

export const accountPage: DashboardPage = {
  path: section,
  show: (signedIn) => showAccount(signedIn),
  act: changePassword,
  again: showAccount,
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

/** As the API does; ends every session and grant. */
async function changePassword(signedIn: SignedInRequest, form: URLSearchParams): Promise<Reply> {
  const password = form.get('password') ?? ''
  if (password !== (form.get('repeated') ?? '')) {
    throw invalid([{ pointer: '#/repeated', code: 'different', detail: 'must match the new password' }])
  }
  const body = { password, currentPassword: form.get('currentPassword') ?? '' }
  const call = callOf(signedIn, users.updateProfile, { body })
  const { prepare, handle } = routeOf(users.updateProfile)
  const prepared = await prepare?.(call)
  const headers = await writeFor(signedIn, async (inside) => {
    await handle({ ...callOf(inside, users.updateProfile, { body }), prepared })
    return endSession(inside, signedIn.visitor)
  })
  return seeOther(addressOf(signedIn, section, 'password_changed'), headers)
}

async function showAccount(signedIn: SignedInRequest, fault?: ProblemError): Promise<Reply> {
  const { email, username, role, profile, id, createdAt } = toUser(
    await findUser(signedIn.database, signedIn.user.id),
  )
  const name = profile.displayName ?? [profile.firstName, profile.lastName].filter(Boolean).join(' ')
  const granted = await askOwn(signedIn, grants.list, { query: pageQueryOf(signedIn) })
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
  return framePage(
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

export const sessionEnd: DashboardPage = {
  path: '/dashboard/sessions/:sessionId/end',

  async show(signedIn) {
    const { sessionId = '' } = signedIn.params
    const sessions = await ownSessions(signedIn)
    const session = sessions.find(({ id }) => id === sessionId)
    if (!session) throw notFound('session', sessionId)
    return askToConfirm(
      signedIn,
      { title: 'End this session?', section, button: 'End session' },
      <p>
        <strong>{session.browser}</strong> ({session.place}) will be signed out.
      </p>,
    )
  },

  async act(signedIn) {
    await writeFor(signedIn, (inside) =>
      endOneSession(writingOf(inside), inside.user.id, signedIn.params['sessionId'] ?? ''),
    )
    return seeOther(addressOf(signedIn, section, 'session_ended'))
  },
}

export const otherSessionsEnd: DashboardPage = {
  path: '/dashboard/other-sessions/end',

  async show(signedIn) {
    const sessions = await ownSessions(signedIn)
    const others = sessions.filter(({ isThis }) => !isThis)
    return askToConfirm(
      signedIn,
      { title: 'End all other sessions?', section, button: 'End all other sessions' },
      <p>{countOf(others.length, 'other browser')} will be signed out. You stay signed in here.</p>,
    )
  },

  async act(signedIn) {
    await writeFor(signedIn, (inside) => endOtherSessions(writingOf(inside), sessionQueryOf(inside)))
    return seeOther(addressOf(signedIn, section, 'other_sessions_ended'))
  },
}

function ownSessions(signedIn: SignedInRequest) {
  return sessionsOf(sessionQueryOf(signedIn), signedIn.request.now)
}

function sessionQueryOf({ database, user, visitor }: SignedInRequest) {
  return { database, userId: user.id, token: visitor.token }
}

export const grantRevocation: DashboardPage = {
  path: '/dashboard/grants/:grantId/revoke',

  async show(signedIn) {
    const { database, request, params, user } = signedIn
    const { grantId = '' } = params
    const granted = await grantsOf(database, user.id, request.now.toISOString())
    const grant = granted.find(({ id }) => id === grantId)
    if (!grant) throw notFound('grant', grantId)
    return askToConfirm(
      signedIn,
      { title: `Revoke access of ${grant.clientName}?`, section, button: 'Revoke access' },
      <p>
        <strong>{grant.clientName}</strong> (<code>{grant.clientId}</code>, {grant.scopes.join(' ')}) will no
        longer be able to act as you. It can ask for access again.
      </p>,
    )
  },

  async act(signedIn) {
    const { params, user } = signedIn
    await writeFor(signedIn, (inside) => revokeGrant(writingOf(inside), params['grantId'] ?? '', user.id))
    return seeOther(addressOf(signedIn, section, 'grant_revoked'))
  },
}
