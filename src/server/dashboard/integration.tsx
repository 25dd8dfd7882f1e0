import type { Child } from 'hono/jsx'
import type { Integration, IntegrationCheck } from '../../contract/integration.ts'
import type { LmsKind } from '../../contract/integration-choices.ts'
import { integrations } from '../../contract/integrations.ts'
import { issuerOf } from '../http/endpoint.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import { requireKind, webhookPathOf } from '../integrations/lms-kind.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem/problem-error.ts'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Form } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { filledInWith, IntegrationForm, integrationInputOf } from './integration-form.tsx'
import { kindWords } from './integration-words.ts'
import { ConnectionState } from './integrations.tsx'
import { LastDelivery, lastDelivery } from './last-delivery.tsx'
import { Mappings, mappingOf } from './mappings.tsx'
import { ask, callOf, routeOf, type SignedInRequest, writeFor } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Minute, shown } from './value-text.tsx'

const section = '/dashboard/integrations'

/** What the page shows beside an integration as it is. */
interface Shown {
  readonly fault?: ProblemError | undefined
  readonly form?: URLSearchParams | undefined
  readonly checked?: IntegrationCheck
}

/** One integration: where events are sent, how it is configured, and what its courses and users are here. */
export const integrationPage: DashboardPage = {
  path: '/dashboard/integrations/:lmsKind',
  show: (signedIn) => integrationShown(signedIn),
  again: (signedIn, fault, form) => integrationShown(signedIn, { fault, form }),

  async act(signedIn, form) {
    const { params } = signedIn
    const kind = kindOf(signedIn)
    const here = `${section}/${kind}` as const
    switch (form.get('action')) {
      case 'test':
        return integrationShown(signedIn, { checked: await tested(signedIn) })
      case 'map':
        await writeFor(signedIn, (inside) =>
          ask(inside, integrationRoutes, integrations.map, { params, body: mappingOf(form) }),
        )
        return seeOther(`${addressOf(signedIn, here, 'mapping_saved')}#mappings`)
      case 'unmap':
        await writeFor(signedIn, (inside) =>
          ask(inside, integrationRoutes, integrations.unmap, {
            params: { ...params, mappingId: form.get('mappingId') ?? '' },
          }),
        )
        return seeOther(`${addressOf(signedIn, here, 'mapping_deleted')}#mappings`)
      default: {
        const body = integrationInputOf(form, kind, signedIn.request.now)
        await writeFor(signedIn, (inside) =>
          ask(inside, integrationRoutes, integrations.set, { params, body }),
        )
        return seeOther(addressOf(signedIn, here, 'integration_saved'))
      }
    }
  },
}

/** Asks whether an integration is to be removed, and removes it. */
export const integrationRemoval: DashboardPage = {
  path: '/dashboard/integrations/:lmsKind/remove',

  async show(signedIn) {
    requireRight(signedIn.principal, integrations.remove)
    const { lmsKind } = await ask(signedIn, integrationRoutes, integrations.get, { params: signedIn.params })
    const name = kindWords[lmsKind]
    return confirmation(
      signedIn,
      { title: `Remove ${name}?`, section, button: 'Remove integration', cancel: `${section}/${lmsKind}` },
      <p>
        Deliveries of <strong>{name}</strong> are refused, and its secrets are deleted. Grades and mappings
        stay. This cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await writeFor(signedIn, (inside) =>
      ask(inside, integrationRoutes, integrations.remove, { params: signedIn.params }),
    )
    return seeOther(addressOf(signedIn, section, 'integration_removed'))
  },
}

function kindOf({ params, principal }: SignedInRequest): LmsKind {
  requireRight(principal, integrations.get)
  return requireKind(params['lmsKind'] ?? '')
}

/** What a check of the connection finds; it may take some seconds, and keeps no transaction open. */
async function tested(signedIn: SignedInRequest): Promise<IntegrationCheck> {
  requireRight(signedIn.principal, integrations.test)
  const call = callOf(signedIn, integrations.test, { params: signedIn.params })
  const { prepare, handle } = routeOf(integrationRoutes, integrations.test)
  // What this handler answers, as its operation declares.
  return (await handle({ ...call, prepared: await prepare?.(call) })) as IntegrationCheck
}

/** The integration of a kind; undefined where it is not connected. */
async function found(signedIn: SignedInRequest, lmsKind: LmsKind): Promise<Integration | undefined> {
  try {
    return await ask(signedIn, integrationRoutes, integrations.get, { params: { lmsKind } })
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

async function integrationShown(
  signedIn: SignedInRequest,
  { fault, form, checked }: Shown = {},
): Promise<Reply> {
  const kind = kindOf(signedIn)
  const name = kindWords[kind]
  const integration = await found(signedIn, kind)
  const last = await lastDelivery(signedIn, kind)
  const isMapping = form?.get('action') === 'map'
  return framed(
    signedIn,
    { title: fault ? `Error: ${name}` : name, section, fault },
    <>
      <p class="back">
        <a href={`${signedIn.base}${section}`}>Integrations</a>
      </p>
      <h1>{name}</h1>
      <section class="card" aria-labelledby="address">
        <h2 id="address">Webhook address</h2>
        <p>{`Enter this address in ${name} as the place to send grade events to.`}</p>
        <code class="code secret">{issuerOf(signedIn.academy, signedIn.request) + webhookPathOf(kind)}</code>
        <Facts integration={integration} last={<LastDelivery base={signedIn.base} delivery={last} />} />
        {integration ? (
          <Form signedIn={signedIn} label="Connection">
            <div class="actions">
              <button type="submit" name="action" value="test">
                Test connection
              </button>
              <a class="button" href={`${signedIn.base}${section}/${kind}/remove`}>
                Remove
              </a>
            </div>
          </Form>
        ) : null}
      </section>
      {checked ? <Checked check={checked} /> : null}
      <section class="card short" aria-labelledby="configure">
        <h2 id="configure">Configuration</h2>
        <IntegrationForm
          {...{ signedIn, kind, integration }}
          form={form && !isMapping ? form : filledInWith(integration)}
          fault={isMapping ? undefined : fault}
        />
      </section>
      <Mappings
        signedIn={signedIn}
        form={form && isMapping ? form : new URLSearchParams()}
        fault={isMapping ? fault : undefined}
        page={
          await ask(signedIn, integrationRoutes, integrations.mappings, {
            params: { lmsKind: kind },
            query: { limit: '25', cursor: signedIn.query.get('cursor') ?? undefined },
          })
        }
      />
    </>,
  )
}

function Facts({ integration, last }: { integration: Integration | undefined; last: Child }) {
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
      {integration && Object.keys(integration.gradeItems).length > 0 ? (
        <>
          <dt>Graded items</dt>
          <dd>{Object.keys(integration.gradeItems).length}</dd>
        </>
      ) : null}
    </dl>
  )
}

const checkWords: Readonly<Record<string, string>> = {
  connection: 'Connection',
  accessToken: 'Access token',
  webhookSecret: 'Webhook secret',
  rootAccountUuid: 'Root account UUID',
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
          shown(detail, 500),
        ])}
      />
    </section>
  )
}
