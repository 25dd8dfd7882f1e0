import type { Integration, IntegrationCheck } from '../../contract/integration.ts'
import type { LmsKind } from '../../contract/integration-choices.ts'
import { integrations } from '../../contract/integrations.ts'
import { setUpOf, webhookTarget } from '../../webhooks/set-up.ts'
import { issuerOf } from '../http/endpoint.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import { requireKind } from '../integrations/lms-kind.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem/problem-error.ts'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Form, OnceField } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { filledInWith, IntegrationForm, integrationInputOf } from './integration-form.tsx'
import { ItemsForm } from './integration-items.tsx'
import { secretGenerated, takesAnySecret } from './integration-secret.tsx'
import { Checked, IntegrationFacts } from './integration-state.tsx'
import { kindWords } from './integration-words.ts'
import { faultOfItems, filledInWithItems, itemsInputOf } from './item-rows.ts'
import { LastDelivery, lastDelivery } from './last-delivery.tsx'
import { Mappings, mappingOf } from './mappings.tsx'
import { pageAsked } from './paging.tsx'
import { ask, callOf, routeOf, type SignedInRequest, writeFor } from './signed-in-request.ts'

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
      case 'generate':
        return secretGenerated(signedIn, form, kind)
      case 'items':
        await itemsSaved(signedIn, form)
        return seeOther(
          `${addressOf(signedIn, here, 'items_saved')}&items=${Number(form.get('items') ?? 1)}#gradeItems`,
        )
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

/** Keeps the graded items of a form; a fault is one of the field that it is about. */
async function itemsSaved(signedIn: SignedInRequest, form: URLSearchParams): Promise<void> {
  const { params } = signedIn
  try {
    await writeFor(signedIn, async (inside) => {
      const { gradeItems } = await ask(inside, integrationRoutes, integrations.get, { params })
      const body = itemsInputOf(form, gradeItems)
      return ask(inside, integrationRoutes, integrations.set, { params, body })
    })
  } catch (error) {
    throw error instanceof ProblemError ? faultOfItems(error, form) : error
  }
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
  const action = form?.get('action')
  /** The form that was sent, and what was wrong with it, where it is this one. */
  const sent = (isThis: boolean) => (isThis ? { form, fault } : { form: undefined, fault: undefined })
  const [mapping, items] = [sent(action === 'map'), sent(action === 'items')]
  const settings = sent(!['map', 'items'].includes(action ?? ''))
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
        <code class="code secret">{issuerOf(signedIn.academy, signedIn.request) + webhookTarget(kind)}</code>
        <p>{`${setUpOf(kind)}.`}</p>
        <IntegrationFacts
          integration={integration}
          last={<LastDelivery base={signedIn.base} delivery={last} />}
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
              <a class="button" href={`${signedIn.base}${section}/${kind}/remove`}>
                Remove
              </a>
            ) : null}
          </div>
        </Form>
      </section>
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
          await ask(signedIn, integrationRoutes, integrations.mappings, {
            params: { lmsKind: kind },
            query: { ...pageAsked(signedIn), external_key: signedIn.query.get('key') || undefined },
          })
        }
      />
    </>,
  )
}
