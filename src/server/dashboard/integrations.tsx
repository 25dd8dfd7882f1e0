import type { Delivery } from '../../contract/deliveries.ts'
import type { Integration } from '../../contract/integration.ts'
import { type LmsKind, lmsKinds } from '../../contract/integration-choices.ts'
import { integrations } from '../../contract/integrations.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framed } from './frame.tsx'
import { IntegrationParts } from './integration-parts.tsx'
import { kindWords } from './integration-words.ts'
import { LastDelivery, lastDelivery } from './last-delivery.tsx'
import { ask } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day, shown } from './value-text.tsx'

const section = '/dashboard/integrations'

/** The systems that grades can come from, for admins: which are connected, and the way to each. */
export const integrationsPage: DashboardPage = {
  path: section,
  async show(signedIn) {
    const { data } = await ask(signedIn, integrationRoutes, integrations.list, { query: { limit: '100' } })
    const last = new Map<LmsKind, Delivery | undefined>()
    for (const kind of lmsKinds) last.set(kind, await lastDelivery(signedIn, kind))
    const placeOf = (kind: string) => `${signedIn.base}${section}/${kind}`
    return framed(
      signedIn,
      { title: 'Integrations', section },
      <>
        <h1>Integrations</h1>
        <IntegrationParts signedIn={signedIn} shown="Connections" />
        <p>Other learning management systems send their grades and progress to this server.</p>
        <section class="card" aria-labelledby="systems">
          <h2 id="systems">Systems</h2>
          <Table
            caption="Systems that can be connected"
            columns={[
              { name: 'System' },
              { name: 'State' },
              { name: 'Base URL', look: 'broad' },
              { name: 'Secret set' },
              { name: 'Last delivery', look: 'broad' },
            ]}
            rows={lmsKinds.map((kind) => {
              const integration = data.find(({ lmsKind }) => lmsKind === kind)
              return [
                <a href={placeOf(kind)}>{kindWords[kind]}</a>,
                <ConnectionState integration={integration} />,
                integration?.baseUrl ? shown(integration.baseUrl, 120) : <span class="none">–</span>,
                <Day time={integration?.secrets.webhook[0]?.setAt ?? null} />,
                <LastDelivery base={signedIn.base} delivery={last.get(kind)} />,
              ]
            })}
          />
        </section>
      </>,
    )
  },
}

/** Whether deliveries of a system are taken. */
export function ConnectionState({ integration }: { integration: Integration | undefined }) {
  if (!integration) return <span class="state">not connected</span>
  const verifies =
    integration.secrets.webhook.length > 0 ||
    (integration.lmsKind === 'canvas' && integration.rootAccountUuid !== null)
  return verifies ? <span class="state active">connected</span> : <span class="state">no secret</span>
}
