import { grantsOf, revokeGrant } from '../credentials/grants.ts'
import { seeOther } from '../pages/page.tsx'
import { notFound } from '../problem/problem-error.ts'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { addressOf } from './frame.tsx'
import { writeFor, writingOf } from './signed-in-request.ts'

const section = '/dashboard/account'

/** Asks whether one's own grant is to be revoked, and revokes it. */
export const grantRevocation: DashboardPage = {
  path: '/dashboard/grants/:grantId/revoke',

  async show(signedIn) {
    const { database, request, params, user } = signedIn
    const { grantId = '' } = params
    const granted = await grantsOf(database, user.id, request.now.toISOString())
    const grant = granted.find(({ id }) => id === grantId)
    if (!grant) throw notFound('grant', grantId)
    return confirmation(
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
