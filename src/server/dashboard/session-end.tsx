import { seeOther } from '../pages/page.tsx'
import { endOneSession, endOtherSessions, sessionsOf } from '../pages/session-list.ts'
import { notFound } from '../problem/problem-error.ts'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { addressOf } from './frame.tsx'
import { type SignedInRequest, writeFor, writingOf } from './signed-in-request.ts'
import { many } from './value-text.tsx'

const section = '/dashboard/account'

/** Asks whether another browser is to be signed out, and signs it out. */
export const sessionEnd: DashboardPage = {
  path: '/dashboard/sessions/:sessionId/end',

  async show(signedIn) {
    const { sessionId = '' } = signedIn.params
    const sessions = await ownSessions(signedIn)
    const session = sessions.find(({ id }) => id === sessionId)
    if (!session) throw notFound('session', sessionId)
    return confirmation(
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

/** Asks whether all other browsers are to be signed out, and signs them out. */
export const otherSessionsEnd: DashboardPage = {
  path: '/dashboard/other-sessions/end',

  async show(signedIn) {
    const sessions = await ownSessions(signedIn)
    const others = sessions.filter(({ isThis }) => !isThis)
    return confirmation(
      signedIn,
      { title: 'End all other sessions?', section, button: 'End all other sessions' },
      <p>{many(others.length, 'other browser')} will be signed out. You stay signed in here.</p>,
    )
  },

  async act(signedIn) {
    await writeFor(signedIn, (inside) => endOtherSessions(writingOf(inside), asking(inside)))
    return seeOther(addressOf(signedIn, section, 'other_sessions_ended'))
  },
}

/** The sessions of whoever is signed in. */
export function ownSessions(signedIn: SignedInRequest) {
  return sessionsOf(asking(signedIn), signedIn.request.now)
}

function asking({ database, user, visitor }: SignedInRequest) {
  return { database, userId: user.id, token: visitor.token }
}
