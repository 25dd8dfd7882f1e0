import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import type { Delivery } from '../../contract/deliveries.ts'
import { type Integration, type IntegrationCheck, integrations } from '../../contract/integrations.ts'
import { kinds, setUpOf, webhookTargetOf } from '../../lms/kinds.ts'
import { newWebhookSecret } from '../../lms/secrets.ts'
import { Table } from '../../report/table.tsx'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { issuerOf } from '../http/web-route.ts'
import { requireKind } from '../integrations/integration.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, callOf, routeOf, type SignedInRequest, write, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { LastDelivery, lastDelivery } from './deliveries.tsx'
import { askToConfirm, Form, OnceField, submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { filledInWith, IntegrationForm, integrationInputOf, overlapOf } from './integration-form.tsx'
import { faultOfItems, filledInWithItems, ItemsForm, itemsInputOf } from './integration-items.tsx'
import { ConnectionState } from './integrations.tsx'
import { Mappings, mappingOf } from './mappings.tsx'
import { pageQueryOf } from './paging.tsx'
import { Facts, Minute } from './values.tsx'

const section = '/dashboard/integrations'

interface Shown {
  readonly fault?: ProblemError | undefined
  readonly form?: URLSearchParams | undefined
  readonly checked?: IntegrationCheck
}

export const integrationPage: DashboardPage = {
  path: '/dashboard/integrations/:lmsKind',
  show: (signedIn) => showIntegration(signedIn),
  again: (signedIn, fault, form) => showIntegration(signedIn, { fault, form }),

  async act(signedIn, form) {
    const kind = kindOf(signedIn)
    const here = `${section}/${kind}` as const
    switch (form.get('action')) {
      case 'test':
        return showIntegration(signedIn, { checked: await testConnection(signedIn) })
      case 'generate':
        return generateSecret(signedIn, form, kind)
      case 'items':
        await saveItems(signedIn, form)
        return seeOther(
          `${addressOf(signedIn, here, 'items_saved')}&items=${Number(form.get('items') ?? 1)}#gradeItems`,
        )
      case 'map':
        await write(signedIn, integrations.map, { body: mappingOf(form) })
        return seeOther(`${addressOf(signedIn, here, 'mapping_saved')}#mappings`)
      case 'unmap':
        await write(signedIn, integrations.unmap, {
          params: { ...signedIn.params, mappingId: form.get('mappingId') ?? '' },
        })
        return seeOther(`${addressOf(signedIn, here, 'mapping_deleted')}#mappings`)
      default: {
        const body = integrationInputOf(form, kind, signedIn.request.now)
        await write(signedIn, integrations.set, { body })
        return seeOther(addressOf(signedIn, here, 'integration_saved'))
      }
    }
  },
}

export const integrationRemoval: DashboardPage = {
  path: '/dashboard/integrations/:lmsKind/remove',

  async show(signedIn) {
    requireRight(signedIn.principal, integrations.remove)
    const { lmsKind } = await ask(signedIn, integrations.get)
    const name = kinds[lmsKind].title
    return askToConfirm(
      signedIn,
      { title: `Remove ${name}?`, section, button: 'Remove integration', cancel: `${section}/${lmsKind}` },
      <p>
        Deliveries of <strong>{name}</strong> are refused, and its secrets are deleted. Grades and mappings
        stay. This cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await write(signedIn, integrations.remove)
    return seeOther(addressOf(signedIn, section, 'integration_removed'))
  },
}

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

/** Faults point to the fields of the form. */
async function saveItems(signedIn: SignedInRequest, form: URLSearchParams): Promise<void> {
  try {
    await writeFor(signedIn, async (inside) => {
      const { gradeItems } = await ask(inside, integrations.get)
      const body = itemsInputOf(form, gradeItems)
      return ask(inside, integrations.set, { body })
    })
  } catch (error) {
    throw error instanceof ProblemError ? faultOfItems(error, form) : error
  }
}

async function findIntegration(
  signedIn: SignedInRequest,
  lmsKind: LmsKind,
): Promise<Integration | undefined> {
  try {
    return await ask(signedIn, integrations.get, { params: { lmsKind } })
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

async function showIntegration(
  signedIn: SignedInRequest,
  { fault, form, checked }: Shown = {},
): Promise<Reply> {
  const kind = kindOf(signedIn)
  const name = kinds[kind].title
  const integration = await findIntegration(signedIn, kind)
  const action = form?.get('action')
  /** Returns the submitted form and its fault if it is this form. */
  const sent = (isThis: boolean) => (isThis ? { form, fault } : { form: undefined, fault: undefined })
  const [mapping, items] = [sent(action === 'map'), sent(action === 'items')]
  const settings = sent(!['map', 'items'].includes(action ?? ''))
  return framePage(
    signedIn,
    { title: fault ? `Error: ${name}` : name, section, fault },
    <>
      <p class="back">
        <a href={`${signedIn.base}${section}`}>Integrations</a>
      </p>
      <h1>{name}</h1>
      <Connection {...{ signedIn, kind, integration }} last={await lastDelivery(signedIn, kind)} />
      {checked ? <Checked check={checked} /> : null}
      <section class="card short" aria-labelledby="configure">
        <h2 id="configure">Configuration</h2>
        <IntegrationForm
          {...{ signedIn, kind, integration }}
          form={settings.form ?? filledInWith(integration)}
          fault={settings.fault}
        />
      </section>
      {integration ? (
        <ItemsForm
          signedIn={signedIn}
          form={items.form ?? filledInWithItems(integration.gradeItems, signedIn.query.get('items'))}
          fault={items.fault}
          system={name}
          gradeItems={integration.gradeItems}
        />
      ) : null}
      <Mappings
        signedIn={signedIn}
        form={mapping.form ?? new URLSearchParams()}
        fault={mapping.fault}
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
  const { academy, base, request } = signedIn
  return (
    <section class="card" aria-labelledby="address">
      <h2 id="address">Webhook address</h2>
      <code class="code secret">{issuerOf(academy, request) + webhookTargetOf(kind)}</code>
      <p>{`${setUpOf(kind)}.`}</p>
      <IntegrationFacts integration={integration} last={<LastDelivery base={base} delivery={last} />} />
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
    </section>
  )
}

/** Thinkific signs with the key of its account. */
function takesAnySecret(kind: LmsKind): boolean {
  return kind !== 'thinkific'
}

/** Once for each form, and shows the secret; no other page does. */
function generateSecret(signedIn: SignedInRequest, form: URLSearchParams, kind: LmsKind): Promise<Reply> {
  const here = `/dashboard/integrations/${kind}` as const
  return submitOnce(signedIn, form, addressOf(signedIn, here, 'secret_made_before'), async (inside) => {
    const secret = newWebhookSecret()
    const body = { webhookSecrets: [secret], ...overlapOf(24, signedIn.request.now) }
    const { secrets } = await ask(inside, integrations.set, {
      params: { lmsKind: kind },
      body,
    })
    const title = `Webhook secret of ${kinds[kind].title}`
    return framePage(
      signedIn,
      { title, section: '/dashboard/integrations' },
      <div class="card short">
        <h1>{title}</h1>
        <p role="status">Copy the secret now. It will not be shown again.</p>
        <code class="code secret">{secret}</code>
        <p>
          {kind === 'openedx'
            ? 'Put it into the webhook address in Open edX, in place of <webhook secret>.'
            : `Enter it in ${kinds[kind].title} as the secret that events are signed with.`}
        </p>
        {secrets.webhook.length > 1 ? <p>The previous secret is accepted for 24 hours.</p> : null}
        <p class="actions">
          <a class="button" href={addressOf(signedIn, here)}>
            Done
          </a>
        </p>
      </div>,
    )
  })
}

function IntegrationFacts({ integration, last }: { integration: Integration | undefined; last: Child }) {
  const { webhook = [], accessToken = null, refreshToken = null } = integration?.secrets ?? {}
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
        ...(integration?.clientId ? [['Client id', lineOf(integration.clientId, 120)] as const] : []),
        ...(refreshToken === null ? [] : [['Signed in', <Minute time={refreshToken.setAt} />] as const]),
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
    <section class="card" aria-labelledby="checks">
      <h2 id="checks">Connection check</h2>
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
    </section>
  )
}
