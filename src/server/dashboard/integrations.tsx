import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import type { Delivery } from '../../contract/deliveries.ts'
import {
  type Integration,
  type IntegrationCheck,
  integrations,
  type ShownSecret,
} from '../../contract/integrations.ts'
import { newWebhookSecret } from '../../lms/delivery.ts'
import { kinds, setUpOf, webhookTargetOf } from '../../lms/kinds.ts'
import { Card, Table } from '../../report/elements.tsx'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, askOrNone, callOf, routeOf, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { lastDelivery, lastDeliveryText } from './deliveries.tsx'
import { confirmationPage, onceField, postForm, secretPage, submitOnce } from './form.tsx'
import { addressOf, framePage, type NoteName } from './frame.tsx'
import { integrationForm, integrationInputOf, overlapOf } from './integration-form.tsx'
import { gradeItemsCard, itemInputOf, mappingOf, mappingsCard } from './integration-lists.tsx'
import { listPage } from './list.tsx'
import { pageQueryOf } from './list-parameters.tsx'
import { type FormState, filledInWith, recordForm } from './record-form.tsx'
import { Day, factList, type ListedFacts, lineOrNone, Minute, stateTag } from './values.tsx'

const section = '/dashboard/integrations'

interface System {
  readonly kind: LmsKind
  readonly integration: Integration | undefined
  readonly last: Delivery | undefined
}

/** For admins: systems that can send grades. */
const list = listPage<System>({
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
      { name: 'State', cell: ({ integration }) => connectionState(integration) },
      {
        name: 'Base URL',
        look: 'broad',
        cell: ({ integration }) => lineOrNone(integration?.baseUrl ?? null, 120),
      },
      {
        name: 'Secret set',
        cell: ({ integration }) => <Day time={integration?.secrets.webhook[0]?.setAt ?? null} />,
      },
      {
        name: 'Last delivery',
        look: 'broad',
        cell: ({ last }, signedIn) => lastDeliveryText(signedIn, last),
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

interface Shown {
  readonly sent?: FormState
  readonly checked?: IntegrationCheck
}

const page: DashboardPage = {
  path: `${section}/:lmsKind`,
  show: (signedIn) => showIntegration(signedIn),
  again: (signedIn, fault, form) => showIntegration(signedIn, { sent: { form, fault } }),

  async act(signedIn, form) {
    const kind = kindOf(signedIn)
    const at = (note: NoteName, rest = '') => seeOther(addressOf(signedIn, `${section}/${kind}`, note) + rest)
    switch (form.get('action')) {
      case 'test':
        return showIntegration(signedIn, { checked: await testConnection(signedIn) })
      case 'generate':
        return generateSecret(signedIn, form, kind)
      case 'item':
        await write(signedIn, integrations.set, { body: itemInputOf(form) })
        return at('item_saved', '#gradeItems')
      case 'unset':
        await write(signedIn, integrations.set, {
          body: { gradeItems: { [form.get('itemId') ?? '']: null } },
        })
        return at('item_deleted', '#gradeItems')
      case 'map':
        await write(signedIn, integrations.map, { body: mappingOf(form) })
        return at('mapping_saved', '#mappings')
      case 'unmap':
        await write(signedIn, integrations.unmap, {
          params: { ...signedIn.params, mappingId: form.get('mappingId') ?? '' },
        })
        return at('mapping_deleted', '#mappings')
      default:
        await write(signedIn, integrations.set, {
          body: integrationInputOf(form, kind, signedIn.request.now),
        })
        return at('integration_saved')
    }
  },
}

const removal = confirmationPage({
  path: `${section}/:lmsKind/remove`,
  section,
  operation: integrations.remove,
  find: async (signedIn) => kinds[(await ask(signedIn, integrations.get)).lmsKind].title,
  title: (name) => `Remove ${name}?`,
  question: (name) => (
    <>
      Deliveries of <strong>{name}</strong> are refused, and its secrets are deleted. Grades and mappings
      stay. This cannot be undone.
    </>
  ),
  button: 'Remove integration',
  cancel: (signedIn) => `${section}/${kindOf(signedIn)}`,
  done: 'integration_removed',
})

export const integrationPages = [...list, page, removal]

function kindOf({ params, principal }: SignedInRequest): LmsKind {
  requireRight(principal, integrations.get)
  return requireKind(params['lmsKind'] ?? '')
}

/** It may take seconds, so it runs outside a transaction. */
async function testConnection(signedIn: SignedInRequest): Promise<IntegrationCheck> {
  requireRight(signedIn.principal, integrations.test)
  const call = callOf(signedIn, integrations.test, { params: signedIn.params })
  const { prepare, handle } = routeOf(integrations.test)
  return (await handle({ ...call, prepared: await prepare?.(call) })) as IntegrationCheck
}

async function showIntegration(signedIn: SignedInRequest, { sent, checked }: Shown = {}): Promise<Reply> {
  const kind = kindOf(signedIn)
  const name = kinds[kind].title
  const integration = await askOrNone(signedIn, integrations.get)
  const action = sent?.form.get('action') ?? ''
  const others = ['map', 'item']
  const sentBy = (wanted: string) =>
    action === wanted || (wanted === 'save' && !others.includes(action)) ? sent : undefined
  const settings = integrationForm(kind, integration)
  const mappings = await ask(signedIn, integrations.mappings, {
    params: { lmsKind: kind },
    query: { ...pageQueryOf(signedIn), external_key: signedIn.query.get('key') || undefined },
  })
  const last = await lastDelivery(signedIn, kind)
  return framePage(
    signedIn,
    {
      title: name,
      isName: true,
      section,
      fault: sent?.fault,
      back: [signedIn.base + section, 'Integrations'],
    },
    connectionCard(signedIn, kind, integration, last),
    checked && checkCard(checked),
    <Card id="configure" title="Configuration" isShort>
      {recordForm(signedIn, settings, sentBy('save') ?? { form: filledInWith(settings, integration) })}
    </Card>,
    integration && gradeItemsCard(signedIn, integration.gradeItems, name, sentBy('item')),
    mappingsCard(signedIn, mappings, sentBy('map')),
  )
}

function connectionCard(
  signedIn: SignedInRequest,
  kind: LmsKind,
  integration: Integration | undefined,
  last: Delivery | undefined,
): Child {
  return (
    <Card id="address" title="Webhook address">
      <code class="code secret">{signedIn.issuer + webhookTargetOf(kind)}</code>
      <p>{`${setUpOf(kind)}.`}</p>
      {factList(connectionFacts(signedIn, integration, last))}
      {postForm(
        signedIn,
        'Connection',
        onceField(signedIn),
        <div class="actions">
          {integration ? (
            <button type="submit" name="action" value="test">
              Test connection
            </button>
          ) : null}
          {takesAnySecret(kind) ? (
            <button type="submit" class="quiet" name="action" value="generate">
              Generate a webhook secret
            </button>
          ) : null}
          {integration ? (
            <a class="button" href={`${signedIn.base}${section}/${kind}/remove`}>
              Remove
            </a>
          ) : null}
        </div>,
      )}
    </Card>
  )
}

/** Thinkific signs with the key of its account. */
function takesAnySecret(kind: LmsKind): boolean {
  return kind !== 'thinkific'
}

/** Once for each form; no other page shows the secret. */
function generateSecret(signedIn: SignedInRequest, form: URLSearchParams, kind: LmsKind): Promise<Reply> {
  const here = `${section}/${kind}` as const
  return submitOnce(signedIn, form, addressOf(signedIn, here, 'secret_made_before'), async (inside) => {
    const secret = newWebhookSecret()
    const body = { webhookSecrets: [secret], ...overlapOf(24, signedIn.request.now) }
    const { secrets } = await ask(inside, integrations.set, { body })
    const title = `Webhook secret of ${kinds[kind].title}`
    return secretPage(
      signedIn,
      { title, section, name: 'secret', secret, next: here },
      <>
        <p>
          {kind === 'openedx'
            ? 'Put it into the webhook address in Open edX, in place of <webhook secret>.'
            : `Enter it in ${kinds[kind].title} as the secret that events are signed with.`}
        </p>
        {secrets.webhook.length > 1 ? <p>The previous secret is accepted for 24 hours.</p> : null}
      </>,
    )
  })
}

function connectionFacts(
  signedIn: SignedInRequest,
  integration: Integration | undefined,
  last: Delivery | undefined,
): ListedFacts {
  const { webhook = [], accessToken, refreshToken } = integration?.secrets ?? {}
  return [
    ['State', connectionState(integration)],
    ['Last delivery', lastDeliveryText(signedIn, last)],
    ...webhook.map(
      (secret, index) => [index === 0 ? 'Webhook secret' : 'Previous secret', secretState(secret)] as const,
    ),
    ['Client id', integration?.clientId && lineOf(integration.clientId, 120)],
    ['Signed in', refreshToken && <Minute time={refreshToken.setAt} />],
    ['Access token', accessToken && secretState(accessToken)],
  ]
}

function secretState({ setAt, last4, endsAt }: ShownSecret): Child {
  return (
    <>
      Set <Minute time={setAt} />
      {last4 === null ? null : `, ends in ${last4}`}
      {endsAt === null ? null : (
        <>
          , accepted until <Minute time={endsAt} />
        </>
      )}
    </>
  )
}

const checkWords: Readonly<Record<string, string>> = {
  client: 'Client',
  connection: 'Connection',
  accessToken: 'Access token',
  signIn: 'Sign-in',
  scopes: 'Scopes',
  records: 'Records that can be read',
  webhookSecret: 'Webhook secret',
  rootAccountUuid: 'Root account UUID',
  lastDelivery: 'Last delivery',
}

function checkCard({ checks, passed }: IntegrationCheck): Child {
  return (
    <Card id="checks" title="Connection check">
      <p role="status">{passed ? 'Nothing failed.' : 'Some checks failed.'}</p>
      <Table
        caption="What was checked"
        columns={[{ name: 'Check' }, { name: 'Result' }, { name: 'Found', look: 'broad' }]}
        rows={checks.map(({ name, status, detail }) => [
          checkWords[name] ?? name,
          stateTag(status, status === 'ok' ? 'active' : status),
          lineOf(detail, 500),
        ])}
      />
    </Card>
  )
}

function connectionState(integration: Integration | undefined): Child {
  if (!integration) return stateTag('not connected', '')
  const { lmsKind, secrets, rootAccountUuid } = integration
  if (lmsKind === 'classroom' && secrets.refreshToken !== null) return stateTag('signed in', 'active')
  const isClient = lmsKind === 'oneroster' && secrets.clientSecret !== null
  const isSigned = secrets.webhook.length > 0 || (lmsKind === 'canvas' && rootAccountUuid !== null)
  return isClient || isSigned ? stateTag('connected', 'active') : stateTag('no secret', '')
}
