import type { Grant } from '../../contract/grants.ts'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day } from './value-text.tsx'

/** What somebody has allowed applications to do, each with the way to take it back. */
export function GrantTable({ signedIn, grants }: { signedIn: SignedInRequest; grants: readonly Grant[] }) {
  return (
    <Table
      caption="Applications with access, newest first"
      columns={[
        { name: 'Application' },
        { name: 'Scopes' },
        { name: 'Granted' },
        { name: 'Last used' },
        { name: 'Expires' },
        { name: 'Revoke', unseen: true },
      ]}
      rows={grants.map((grant) => [
        grant.clientName,
        grant.scopes.join(' '),
        <Day time={grant.createdAt} />,
        <Day time={grant.lastUsedAt} />,
        <Day time={grant.expiresAt} />,
        <a class="take" href={`${signedIn.base}/dashboard/grants/${encodeURIComponent(grant.id)}/revoke`}>
          Revoke<span class="unseen"> access of {grant.clientName}</span>
        </a>,
      ])}
    />
  )
}
