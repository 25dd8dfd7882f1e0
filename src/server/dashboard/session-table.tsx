import type { BrowserSession } from '../pages/session-list.ts'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Minute } from './value-text.tsx'

/** The browsers that somebody is signed in with, each other one with the way to sign it out. */
export function SessionTable({
  signedIn,
  sessions,
}: {
  signedIn: SignedInRequest
  sessions: readonly BrowserSession[]
}) {
  return (
    <Table
      caption="Browsers that are signed in, newest first"
      columns={[
        { name: 'Browser' },
        { name: 'Network' },
        { name: 'Signed in', look: 'broad' },
        { name: 'Expires', look: 'broad' },
        { name: 'End', unseen: true },
      ]}
      rows={sessions.map(({ id, browser, place, createdAt, expiresAt, isThis }) => [
        browser,
        place,
        <Minute time={createdAt} />,
        <Minute time={expiresAt} />,
        isThis ? (
          <span class="state active">this browser</span>
        ) : (
          <a class="take" href={`${signedIn.base}/dashboard/sessions/${encodeURIComponent(id)}/end`}>
            End session<span class="unseen"> of {browser}</span>
          </a>
        ),
      ])}
    />
  )
}
