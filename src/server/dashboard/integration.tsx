import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Delivery } from '../../contract/deliveries.ts'
import {
  type Integration,
  type IntegrationCheck,
  integrations,
  type ShownSecret,
} from '../../contract/integrations.ts'
import { kinds, setUpOf, webhookTargetOf } from '../../lms/kinds.ts'
import { newWebhookSecret } from '../../lms/secrets.ts'
import { Card, Table } from '../../report/elements.tsx'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, askOrNone, callOf, routeOf, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { LastDelivery, lastDelivery } from './deliveries.tsx'
import { confirmationPage, Form, OnceField, secretPage, submitOnce } from './form.tsx'
import { addressOf, Back, framePage, type NoteName } from './frame.tsx'
import { integrationForm, integrationInputOf, overlapOf } from './integration-form.tsx'
import { GradeItems, itemInputOf } from './integration-items.tsx'
import { ConnectionState } from './integrations.tsx'
import { Mappings, mappingOf } from './mappings.tsx'
import { pageQueryOf } from './paging.tsx'
import { type FormState, filledInWith, RecordFields } from './record-form.tsx'
import { Facts, Minute } from './values.tsx'

const section = '/dashboard/integrations'

interface Shown {
  /** The form that was submitted. */
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

export const integrationPages = [page, removal]

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
  return framePage(
    signedIn,
    { title: name, isName: true, section, fault: sent?.fault },
    <>
      <Back to={signedIn.base + section}>Integrations</Back>
      <h1>{name}</h1>
      <Connection {...{ signedIn, kind, integration }} last={await lastDelivery(signedIn, kind)} />
      {checked ? <Checked check={checked} /> : null}
      <Card id="configure" title="Configuration" isShort>
        <RecordFields
          signedIn={signedIn}
          of={settings}
          form={sentBy('save')?.form ?? filledInWith(settings, integration)}
          fault={sentBy('save')?.fault}
        />
      </Card>
      {integration ? (
        <GradeItems
          signedIn={signedIn}
          sent={sentBy('item')}
          system={name}
          gradeItems={integration.gradeItems}
        />
      ) : null}
      <Mappings
        signedIn={signedIn}
        sent={sentBy('map')}
        page={
          await ask(signedIn, integrations.mappings, {
            params: { lmsKind: kind },
            query: { ...pageQueryOf(signedIn), external_key: signedIn.query.get('key') || undefined },
          })
        }
      />
    </>,
  )
}

/** The address that the system sends to, the state of the connection, and what can be done with it. */
function Connection({
  signedIn,
  kind,
  integration,
  last,
}: {
  signedIn: SignedInRequest
  kind: LmsKind
  integration: Integration | undefined
  last: Delivery | undefined
}) {
  const { base } = signedIn
  return (
    <Card id="address" title="Webhook address">
      <code class="code secret">{signedIn.issuer + webhookTargetOf(kind)}</code>
      <p>{`${setUpOf(kind)}.`}</p>
      <IntegrationFacts
        integration={integration}
        last={<LastDelivery signedIn={signedIn} delivery={last} />}
      />
      <Form signedIn={signedIn} label="Connection">
        <OnceField signedIn={signedIn} />
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
            <a class="button" href={`${base}${section}/${kind}/remove`}>
              Remove
            </a>
          ) : null}
        </div>
      </Form>
    </Card>
  )
}

/** Thinkific signs with the key of its account. */
function takesAnySecret(kind: LmsKind): boolean {
  return kind !== 'thinkific'
}

/** Once for each form, and shows the secret; no other page does. */
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

function IntegrationFacts({ integration, last }: { integration: Integration | undefined; last: Child }) {
  const { webhook = [], accessToken, refreshToken } = integration?.secrets ?? {}
  return (
    <Facts
      facts={[
        ['State', <ConnectionState integration={integration} />],
        ['Last delivery', last],
        ...webhook.map(
          (secret, index) =>
            [index === 0 ? 'Webhook secret' : 'Previous secret', <SecretState secret={secret} />] as const,
        ),
        ['Client id', integration?.clientId && lineOf(integration.clientId, 120)],
        ['Signed in', refreshToken && <Minute time={refreshToken.setAt} />],
        ['Access token', accessToken && <SecretState secret={accessToken} />],
      ]}
    />
  )
}

function SecretState({ secret: { setAt, last4, endsAt } }: { secret: ShownSecret }) {
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

function Checked({ check: { checks, passed } }: { check: IntegrationCheck }) {
  return (
    <Card id="checks" title="Connection check">
      <p role="status">{passed ? 'Nothing failed.' : 'Some checks failed.'}</p>
      <Table
        caption="What was checked"
        columns={[{ name: 'Check' }, { name: 'Result' }, { name: 'Found', look: 'broad' }]}
        rows={checks.map(({ name, status, detail }) => [
          checkWords[name] ?? name,
          <span class={`state ${status === 'ok' ? 'active' : status}`}>{status}</span>,
          lineOf(detail, 500),
        ])}
      />
    </Card>
  )
}
