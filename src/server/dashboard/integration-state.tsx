import type { Child } from 'hono/jsx'
import type { Integration, IntegrationCheck } from '../../contract/integration.ts'
import { ConnectionState } from './integrations.tsx'
import { Table } from './table.tsx'
import { Minute, shown } from './value-text.tsx'

/** Whether a system is connected, with what, and what came last. */
export function IntegrationFacts({
  integration,
  last,
}: {
  integration: Integration | undefined
  last: Child
}) {
  const { webhook = [], accessToken = null } = integration?.secrets ?? {}
  const ending = (last4: string | null) => (last4 === null ? '' : `, ends in ${last4}`)
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <ConnectionState integration={integration} />
      </dd>
      <dt>Last delivery</dt>
      <dd>{last}</dd>
      {webhook.map(({ setAt, last4, endsAt }, index) => (
        <>
          <dt>{index === 0 ? 'Webhook secret' : 'Previous secret'}</dt>
          <dd>
            Set <Minute time={setAt} />
            {ending(last4)}
            {endsAt === null ? null : (
              <>
                , accepted until <Minute time={endsAt} />
              </>
            )}
          </dd>
        </>
      ))}
      {accessToken === null ? null : (
        <>
          <dt>Access token</dt>
          <dd>
            Set <Minute time={accessToken.setAt} />
            {ending(accessToken.last4)}
          </dd>
        </>
      )}
    </dl>
  )
}

const checkWords: Readonly<Record<string, string>> = {
  connection: 'Connection',
  accessToken: 'Access token',
  webhookSecret: 'Webhook secret',
  rootAccountUuid: 'Root account UUID',
}

/** What a check of the connection found. */
export function Checked({ check: { checks, passed } }: { check: IntegrationCheck }) {
  return (
    <section class="card" aria-labelledby="checks">
      <h2 id="checks">Connection check</h2>
      <p role="status">{passed ? 'Nothing failed.' : 'Some checks failed.'}</p>
      <Table
        caption="What was checked"
        columns={[{ name: 'Check' }, { name: 'Result' }, { name: 'Found', look: 'broad' }]}
        rows={checks.map(({ name, status, detail }) => [
          checkWords[name] ?? name,
          <span class={`state ${status === 'ok' ? 'active' : status}`}>{status}</span>,
          shown(detail, 500),
        ])}
      />
    </section>
  )
}
