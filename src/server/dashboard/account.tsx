import { type Grant, grants } from '../../contract/grants.ts'
import { users } from '../../contract/users.ts'
import { Card } from '../../report/elements.tsx'
import { revokeGrant } from '../credentials/grants.ts'
import type { Reply } from '../http/reply.ts'
import {
  type BrowserSession,
  endOneSession,
  endOtherSessions,
  endSession,
  sessionsOf,
  writingOf,
} from '../pages/browser-session.ts'
import { seeOther } from '../pages/page.tsx'
import { invalid, notFound, type ProblemError } from '../problem-error.ts'
import { findUser } from '../users/user-row.ts'
import { askOwn, callOf, routeOf, type SignedInRequest, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { confirmationPage } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { type List, listCard } from './list.tsx'
import { pageQueryOf } from './list-parameters.tsx'
import { type RecordForm, recordForm } from './record-form.tsx'
import { countOf, Day, factList, Minute, stateTag, takeLink } from './values.tsx'

const section = '/dashboard/account'
const page: DashboardPage = {
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
      cell: ({ id, clientName }, signedIn) =>
        takeLink(signedIn, `/dashboard/grants/${id}/revoke`, 'Revoke', `access of ${clientName}`),
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
      cell: ({ id, browser, isThis }, signedIn) =>
        isThis
          ? stateTag('this browser', 'active')
          : takeLink(signedIn, `/dashboard/sessions/${id}/end`, 'End session', `of ${browser}`),
    },
  ],
}

/** Ends every session and grant. */
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
  const { email, username, role, profile, id, createdAt } = await findUser(
    signedIn.database,
    signedIn.user.id,
  )
  const name = profile.displayName ?? [profile.firstName, profile.lastName].filter(Boolean).join(' ')
  const granted = await askOwn(signedIn, grants.list, { query: pageQueryOf(signedIn) })
  const sessions = await ownSessions(signedIn)
  return framePage(
    signedIn,
    { title: 'Account', section, fault },
    <Card id="who" title="Profile">
      {factList([
        ['Name', name || '–'],
        ['E-mail address', email],
        ['Username', username ?? '–'],
        ['Role', role],
        ['Scopes', signedIn.principal.scopes.join(' ')],
        ['ID', <code>{id}</code>],
        ['Created', <Day time={createdAt} />],
      ])}
    </Card>,
    listCard(signedIn, grantList, granted, { none: 'No application can act as you.' }),
    listCard(
      signedIn,
      sessionList,
      { data: sessions },
      {
        below:
          sessions.length > 1 ? (
            <p class="actions">
              <a class="button" href={`${signedIn.base}/dashboard/other-sessions/end`}>
                End all other sessions
              </a>
            </p>
          ) : null,
      },
    ),
    <Card id="change" title="Change password" isShort>
      {recordForm(signedIn, passwordForm, { form: new URLSearchParams(), fault })}
    </Card>,
  )
}

const passwordForm: RecordForm = {
  label: 'Change password',
  button: 'Change password',
  fields: [
    {
      name: 'currentPassword',
      label: 'Current password',
      look: 'secret',
      input: { required: true, autocomplete: 'current-password' },
    },
    {
      name: 'password',
      label: 'New password',
      hint: '12 to 256 characters',
      look: 'secret',
      input: { required: true },
    },
    { name: 'repeated', label: 'Repeat new password', look: 'secret', input: { required: true } },
  ],
  note: 'You will be signed out everywhere, and applications lose their access. Your API keys stay valid.',
}

const sessionEnd = confirmationPage({
  path: '/dashboard/sessions/:sessionId/end',
  section,
  async find(signedIn) {
    const { sessionId = '' } = signedIn.params
    const session = (await ownSessions(signedIn)).find(({ id }) => id === sessionId)
    if (!session) throw notFound('session', sessionId)
    return session
  },
  title: () => 'End this session?',
  question: ({ browser, place }) => (
    <>
      <strong>{browser}</strong> ({place}) will be signed out.
    </>
  ),
  button: 'End session',
  act: (inside) =>
    endOneSession(writingOf(inside, inside.principal), inside.user.id, inside.params['sessionId'] ?? ''),
  done: 'session_ended',
})

const otherSessionsEnd = confirmationPage({
  path: '/dashboard/other-sessions/end',
  section,
  find: async (signedIn) => (await ownSessions(signedIn)).filter(({ isThis }) => !isThis),
  title: () => 'End all other sessions?',
  question: ({ length }) =>
    `${countOf(length, 'other browser')} will be signed out. You stay signed in here.`,
  button: 'End all other sessions',
  act: (inside) => endOtherSessions(writingOf(inside, inside.principal), sessionQueryOf(inside)),
  done: 'other_sessions_ended',
})

function ownSessions(signedIn: SignedInRequest) {
  return sessionsOf(sessionQueryOf(signedIn), signedIn.request.now)
}

function sessionQueryOf({ database, user, visitor }: SignedInRequest) {
  return { database, userId: user.id, token: visitor.token }
}

const grantRevocation = confirmationPage({
  path: '/dashboard/grants/:grantId/revoke',
  section,
  async find(signedIn) {
    const { grantId = '' } = signedIn.params
    const { data } = await askOwn(signedIn, grants.list, { query: { limit: '100' } })
    const grant = data.find(({ id }) => id === grantId)
    if (!grant) throw notFound('grant', grantId)
    return grant
  },
  title: ({ clientName }) => `Revoke access of ${clientName}?`,
  question: ({ clientName, clientId, scopes }) => (
    <>
      <strong>{clientName}</strong> (<code>{clientId}</code>, {scopes.join(' ')}) will no longer be able to
      act as you. It can ask for access again.
    </>
  ),
  button: 'Revoke access',
  act: (inside) =>
    revokeGrant(writingOf(inside, inside.principal), inside.params['grantId'] ?? '', inside.user.id),
  done: 'grant_revoked',
})

export const accountPages = [page, grantRevocation, sessionEnd, otherSessionsEnd]
