import type { Child } from 'hono/jsx'
import type { Integration, IntegrationCheck } from '../../contract/integration.ts'
import { Facts } from './facts.tsx'
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
    <Facts
      facts={[
        ['State', <ConnectionState integration={integration} />],
        ['Last delivery', last],
        ...webhook.map(
          ({ setAt, last4, endsAt }, index) =>
            [
              index === 0 ? 'Webhook secret' : 'Previous secret',
              <>
                Set <Minute time={setAt} />
                {ending(last4)}
                {endsAt === null ? null : (
                  <>
                    , accepted until <Minute time={endsAt} />
                  </>
                )}
              </>,
            ] as const,
        ),
        ...(accessToken === null
          ? []
          : [
              [
                'Access token',
                <>
                  Set <Minute time={accessToken.setAt} />
                  {ending(accessToken.last4)}
                </>,
              ] as const,
            ]),
      ]}
    />
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
