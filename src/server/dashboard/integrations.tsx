import { lineOf } from '../../codec/display-text.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import type { Delivery } from '../../contract/deliveries.ts'
import { type Integration, integrations } from '../../contract/integrations.ts'
import { kinds } from '../../lms/kinds.ts'
import { ask } from './call-api.ts'
import { LastDelivery, lastDelivery } from './deliveries.tsx'
import { listPage } from './list.tsx'
import { Day, none } from './values.tsx'

const section = '/dashboard/integrations'

interface System {
  readonly kind: LmsKind
  readonly integration: Integration | undefined
  readonly last: Delivery | undefined
}

/** For admins: systems that can send grades. */
export const integrationsPages = listPage<System>({
  path: section,
  title: 'Integrations',
  tab: 'Connections',
  intro: 'Other learning management systems send their grades and progress to this server.',
  list: {
    id: 'systems',
    title: 'Systems',
    caption: 'Systems that can be connected',
    columns: [
      {
        name: 'System',
        cell: ({ kind }, { base }) => <a href={`${base}${section}/${kind}`}>{kinds[kind].title}</a>,
      },
      { name: 'State', cell: ({ integration }) => <ConnectionState integration={integration} /> },
      {
        name: 'Base URL',
        look: 'broad',
        cell: ({ integration }) => (integration?.baseUrl ? lineOf(integration.baseUrl, 120) : none),
      },
      {
        name: 'Secret set',
        cell: ({ integration }) => <Day time={integration?.secrets.webhook[0]?.setAt ?? null} />,
      },
      {
        name: 'Last delivery',
        look: 'broad',
        cell: ({ last }, signedIn) => <LastDelivery signedIn={signedIn} delivery={last} />,
      },
    ],
  },

  async read(signedIn) {
    const listed = await ask(signedIn, integrations.list, { query: { limit: '100' } })
    const data: System[] = []
    for (const kind of lmsKinds) {
      const integration = listed.data.find(({ lmsKind }) => lmsKind === kind)
      data.push({ kind, integration, last: await lastDelivery(signedIn, kind) })
    }
    return { data }
  },
  operation: integrations.list,
})

/** Whether deliveries are accepted. */
export function ConnectionState({ integration }: { integration: Integration | undefined }) {
  if (!integration) return <span class="state">not connected</span>
  if (integration.lmsKind === 'classroom' && integration.secrets.refreshToken !== null) {
    return <span class="state active">signed in</span>
  }
  if (integration.lmsKind === 'oneroster' && integration.secrets.clientSecret !== null) {
    return <span class="state active">connected</span>
  }
  const verifies =
    integration.secrets.webhook.length > 0 ||
    (integration.lmsKind === 'canvas' && integration.rootAccountUuid !== null)
  return verifies ? <span class="state active">connected</span> : <span class="state">no secret</span>
}
