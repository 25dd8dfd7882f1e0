import type { Key } from '../../contract/keys.ts'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day } from './value-text.tsx'

/** Keys without their texts, each with the way to revoke it while it works. */
export function KeyTable({ signedIn, keys }: { signedIn: SignedInRequest; keys: readonly Key[] }) {
  const now = signedIn.request.now.toISOString()
  return (
    <Table
      caption="Your keys, newest first"
      columns={[
        { name: 'Name' },
        { name: 'Key' },
        { name: 'Scopes' },
        { name: 'Created' },
        { name: 'Last used' },
        { name: 'Expires' },
        { name: 'State' },
        { name: 'Revoke', unseen: true },
      ]}
      rows={keys.map((key) => {
        const state = key.revokedAt ? 'revoked' : key.expiresAt && key.expiresAt <= now ? 'expired' : 'active'
        return [
          key.name,
          <code>
            {key.prefix}…{key.last4}
          </code>,
          key.scopes.join(' '),
          <Day time={key.createdAt} />,
          <Day time={key.lastUsedAt} />,
          <Day time={key.expiresAt} />,
          <span class={`state ${state}`}>{state}</span>,
          state === 'revoked' ? (
            ''
          ) : (
            <a class="take" href={`${signedIn.base}/dashboard/keys/${encodeURIComponent(key.id)}/revoke`}>
              Revoke<span class="unseen"> {key.name}</span>
            </a>
          ),
        ]
      })}
    />
  )
}
